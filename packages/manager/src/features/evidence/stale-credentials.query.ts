import type { EvidenceQuery } from './evidence-query.pure.ts'

const reasonOfToken = `case when t.last_used_at is null then 'never used' else 'not used' end`

export const staleCredentials: EvidenceQuery = {
  name: 'stale-credentials',
  title: 'Stale credentials',
  description:
    'Stale credentials at the time of the run, oldest first. A machine user is listed if it is enabled and its credential was last created or rotated before the window. A personal access token or a SCIM token is listed if it is usable, was created before the window, and has not been used since the window started. The owner of a SCIM token is the administrator who created it. Credentials that were created, rotated or used in or after the window are not stale.',
  controls: [
    'ISO/IEC 27001:2022 A.5.17',
    'ISO/IEC 27001:2022 A.5.18',
    'SOC 2 CC6.1',
    'NIST SP 800-53 AC-2',
    'NIST SP 800-53 IA-5',
  ],
  columns: {
    credential_type: 'c.credential_type',
    credential_id: 'c.id',
    name: 'c.name',
    owner_id: 'c.owner_id',
    owner_email: "nullif(owner.external_email, '')",
    project_id: 'c.project_id',
    project_name: 'p.name',
    environment: 'c.environment',
    created_at: 'c.created_at',
    last_rotated_at: 'c.last_rotated_at',
    last_used_at: 'c.last_used_at',
    expires_at: 'c.expires_at',
    reason: 'c.reason',
    token_prefix: 'c.token_prefix',
  },
  // The end of the window does not matter for the current state. It is referenced because PostgreSQL requires a
  // statement to use all parameters.
  source: `from (
      select 'machine_user' as credential_type, m.id, m.name, null::uuid as owner_id, m.project_id, e.name as environment,
        m.created_at, m.last_rotated_at, null::timestamptz as last_used_at, null::timestamptz as expires_at,
        'not rotated' as reason, m.token_prefix, coalesce(m.last_rotated_at, m.created_at) as since
      from machine_users m join environments e on e.id = m.environment_id where m.enabled
      union all
      select 'personal_access_token', t.id, t.name, t.user_id, null, null, t.created_at, null, t.last_used_at, t.expires_at,
        ${reasonOfToken}, t.token_prefix, coalesce(t.last_used_at, t.created_at)
      from personal_access_tokens t where not t.revoked and (t.expires_at is null or t.expires_at > now())
      union all
      select 'scim_token', t.id, t.name, t.creator_id, null, null, t.created_at, null, t.last_used_at, t.expires_at,
        ${reasonOfToken}, t.token_prefix, coalesce(t.last_used_at, t.created_at)
      from scim_tokens t where t.revoked_at is null and t.expires_at > now()
    ) c
    left join users owner on owner.id = c.owner_id
    left join projects p on p.id = c.project_id
    where c.since < $1 and $2::timestamptz is not null`,
  orderBy: 'c.since, c.id',
}
