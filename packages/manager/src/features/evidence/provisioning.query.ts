import { buildEntityCondition, buildFieldSql, createTrailQuery, joinWithOr } from './trail-query.pure.ts'

export const provisioning = createTrailQuery({
  name: 'provisioning',
  title: 'Provisioned and deactivated people',
  description:
    'People whom an identity provider created, changed or deleted over SCIM. People who were deactivated or reactivated, by an identity provider or by an administrator, and deactivations that were rejected. SCIM tokens that were created or revoked. Rows of an identity provider name its token; rows of tokens contain the name and the prefix, but not the token itself.',
  controls: ['ISO/IEC 27001:2022 A.5.16', 'ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.2', 'NIST SP 800-53 AC-2'],
  columns: {
    user_name: buildFieldSql('userName'),
    external_id: buildFieldSql('externalId'),
    scim_token:
      "coalesce(l.metadata ->> 'scimToken', case when l.entity_type = 'scimToken' then l.description end)",
  },
  condition: joinWithOr(
    buildEntityCondition(['provisionedUser', 'scimToken']),
    buildEntityCondition(['user'], 'deactivate', 'reactivate', 'deny'),
  ),
})
