import type { EvidenceQuery } from './evidence-query.pure.ts'

export const failedAuthentications: EvidenceQuery = {
  name: 'failed-authentications',
  title: 'Failed authentications',
  description:
    'Number of rejected credentials by minute, kind and client network. Each process counts the first 1,000 networks per minute and kind separately; `others` contains the rest. A minute is complete a few seconds after its end.',
  controls: [
    'ISO/IEC 27001:2022 A.8.5',
    'ISO/IEC 27001:2022 A.8.15',
    'SOC 2 CC7.2',
    'NIST SP 800-53 AC-7',
    'NIST SP 800-53 AU-2',
  ],
  columns: { minute: 'f.minute', kind: 'f.kind', client_network: 'f.client', failures: 'f.count::float8' },
  source:
    "from auth_failures f where f.minute >= date_trunc('minute', $1::timestamptz) and f.minute < $2 and f.event = 'failure'",
  orderBy: 'f.minute desc, f.kind, f.client',
}
