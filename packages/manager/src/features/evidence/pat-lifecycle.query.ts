import { castToUuid, buildFieldSql, buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const patLifecycle = createTrailQuery({
  name: 'pat-lifecycle',
  title: 'Personal access token lifecycle',
  description:
    'Personal access tokens that were created, revoked or deleted, including tokens of terminal logins. Rows contain the name and the prefix of a token, but not the token itself.',
  controls: ['ISO/IEC 27001:2022 A.5.17', 'SOC 2 CC6.1', 'NIST SP 800-53 IA-5'],
  columns: {
    token_name: `coalesce(${buildFieldSql('name')}, token.name)`,
    token_prefix: `coalesce(${buildFieldSql('tokenPrefix')}, token.token_prefix)`,
    owner_id: `coalesce(${buildFieldSql('userId')}, token.user_id::text)`,
    owner_email: "nullif(owner.external_email, '')",
    expires_at: `coalesce(${buildFieldSql('expiresAt')}, to_char(token.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
  },
  joins: `left join personal_access_tokens token on token.id = ${castToUuid('l.entity_id')}
    left join users owner on owner.id = coalesce(${castToUuid(buildFieldSql('userId'))}, token.user_id)`,
  condition: buildEntityCondition(['personalAccessToken']),
})
