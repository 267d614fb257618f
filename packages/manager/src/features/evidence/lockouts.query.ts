import type { EvidenceQuery } from './evidence-query.pure.ts'

export const lockouts: EvidenceQuery = {
  name: 'lockouts',
  title: 'Lockouts after too many failures',
  description:
    'Number of blocks by minute, throttle and client, with the longest block. The throttle determines how a client is identified. The throttles machine, validate and validate-oauth identify it by network, and so does code-client in older rows. The throttle code uses the user id, forgery uses the token prefix, and basic uses a hash of the user name and the network.',
  controls: ['ISO/IEC 27001:2022 A.8.5', 'SOC 2 CC6.1', 'SOC 2 CC7.2', 'NIST SP 800-53 AC-7'],
  columns: {
    minute: 'f.minute',
    throttle: 'f.kind',
    client: 'f.client',
    lockouts: 'f.count::float8',
    longest_block_ms: 'f.longest_block_ms::float8',
  },
  source:
    "from auth_failures f where f.minute >= date_trunc('minute', $1::timestamptz) and f.minute < $2 and f.event = 'lockout'",
  orderBy: 'f.minute desc, f.kind, f.client',
}
