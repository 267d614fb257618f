import { buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

const readOffer = (name: string): string => `made.changes #>> '{${name},after}'`

export const invitations = createTrailQuery({
  name: 'invitations',
  title: 'Invitations',
  description:
    'Invitations that were created, accepted or revoked, with the offered role, the inviter and the expiry time. The membership that an accepted invitation creates is in access-grants. Expired invitations have no separate row, and neither do those that are deleted together with their project, tenant or application.',
  controls: ['ISO/IEC 27001:2022 A.5.16', 'ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.2', 'NIST SP 800-53 AC-2'],
  columns: {
    offered_role: readOffer('role'),
    inviter_id: readOffer('inviterId'),
    tenant_id: readOffer('tenantId'),
    application_id: readOffer('applicationId'),
    expires_at: readOffer('expiresAt'),
  },
  joins: `left join lateral (
    select c.changes from audit_logs c
    where c.chain_id = l.chain_id and c.entity_id = l.entity_id and c.entity_type = 'invitation' and c.action = 'create'
    order by c.seq limit 1
  ) made on true`,
  condition: buildEntityCondition(['invitation']),
})
