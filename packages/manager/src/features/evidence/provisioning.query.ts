import {
  buildEntityCondition,
  buildFieldSql,
  castToUuid,
  createTrailQuery,
  joinWithOr,
} from './trail-query.pure.ts'

export const provisioning = createTrailQuery({
  name: 'provisioning',
  title: 'Provisioned and deactivated people',
  description:
    'People and groups that an identity provider created, changed or deleted over SCIM, with the people who joined or left a group. People who were deactivated or reactivated, by an identity provider or by an administrator, and deactivations that were rejected. SCIM tokens that were created or revoked. Rows of an identity provider name its token; rows of tokens contain the name, the prefix and the current state of the token, but not the token itself.',
  controls: ['ISO/IEC 27001:2022 A.5.16', 'ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.2', 'NIST SP 800-53 AC-2'],
  columns: {
    user_name: buildFieldSql('userName'),
    external_id: buildFieldSql('externalId'),
    group_name: `case when l.entity_type = 'provisionedGroup' then coalesce(named_group.display_name, ${buildFieldSql('displayName')}) end`,
    joined_ids: "l.metadata -> 'joinedIds'",
    left_ids: "l.metadata -> 'leftIds'",
    scim_token:
      "coalesce(l.metadata ->> 'scimToken', case when l.entity_type = 'scimToken' then l.description end)",
    token_prefix: `coalesce(${buildFieldSql('tokenPrefix')}, token.token_prefix)`,
    token_creator_id: 'token.creator_id',
    token_expires_at: 'token.expires_at',
    token_last_used_at: 'token.last_used_at',
    token_revoked_at: 'token.revoked_at',
  },
  joins: `left join scim_groups named_group on l.entity_type = 'provisionedGroup' and named_group.id = ${castToUuid('l.entity_id')}
    left join scim_tokens token on l.entity_type = 'scimToken' and token.id = ${castToUuid('l.entity_id')}`,
  condition: joinWithOr(
    buildEntityCondition(['provisionedUser', 'provisionedGroup', 'scimToken']),
    buildEntityCondition(['user'], 'deactivate', 'reactivate', 'deny'),
  ),
})
