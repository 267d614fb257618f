// SQL that selects the complete access list, with one row per principal, scope and role. Reports and attestations
// read the same rows. $1 is the project, or null for the whole system.
import { systemChain } from '../../platform/audit/entry.ts'
import { buildIsActiveSql } from '../../platform/postgres/active-users.ts'

// A deactivated person keeps the roles and the tokens, which have no effect.
const isActive = buildIsActiveSql('u')
const userNameSql = `coalesce(nullif(u.external_name, ''), u.external_username)`

// Selects the permissions of each tenant role as text. `offset 0` makes PostgreSQL build the text once per
// role instead of once per member.
const tenantRoles = `
  select r.tenant_id, r.name, r.permissions,
    (select string_agg(distinct one collate "C", ',' order by one collate "C") from unnest(r.permissions) one) as permits
  from tenant_role_definitions r where $1::uuid is null or r.project_id = $1 offset 0`

// A role that a group rule gives was granted by the administrator who created or last changed the rule.
const ofRule = (entityType: string): string => `
    case when m.group_rule_id is null then '${entityType}' else 'groupRule' end, coalesce(m.group_rule_id, m.id),
    case when m.group_rule_id is null then '{grant,update}' else '{create,update}' end::text[]`

/**
 * Selects the access of users. Administrators and tokens do not belong to a project, so only the system review lists
 * them.
 */
const userAccess = `
  select 'user' as principal_type, u.id as principal_id, ${userNameSql} as name, u.external_email as email,
    'system' as scope_type, null::uuid as scope_id, 'System' as scope_name,
    null::uuid as project_id, u.role, ${isActive} as enabled, null::timestamptz as granted_at, null::timestamptz as expires_at,
    true as is_privileged, null::timestamptz as rotated_at, u.id as activity_of, u.id as held_by,
    'user' as entity_type, u.id as entity_id, '{update}'::text[] as grants, null::text as permits
  from users u where u.role = 'administrator' and $1::uuid is null
  union all
  select 'user', u.id, ${userNameSql}, u.external_email, 'project', m.project_id, p.name, m.project_id,
    m.role, ${isActive}, m.updated_at, null, m.role in ('maintainer', 'owner'), null, u.id, u.id,
    ${ofRule('user2project')}, null
  from user2projects m join users u on u.id = m.user_id join projects p on p.id = m.project_id
  where $1::uuid is null or m.project_id = $1
  union all
  select 'user', u.id, ${userNameSql}, u.external_email, 'tenant', m.tenant_id, t.name, m.project_id,
    m.role_name, ${isActive}, m.updated_at, null, 'members' = any(d.permissions), null, u.id, u.id,
    ${ofRule('user2tenant')}, d.permits
  from user2tenants m join users u on u.id = m.user_id join tenants t on t.id = m.tenant_id
    join (${tenantRoles}) d on d.tenant_id = m.tenant_id and d.name = m.role_name
  where $1::uuid is null or m.project_id = $1
  union all
  select 'user', u.id, ${userNameSql}, u.external_email, 'application', m.application_id, a.name,
    m.project_id, m.role, ${isActive}, m.updated_at, null, false, null, u.id, u.id,
    ${ofRule('user2application')}, null
  from user2applications m join users u on u.id = m.user_id join applications a on a.id = m.application_id
  where $1::uuid is null or m.project_id = $1`

/**
 * Selects the access of tokens and machine users. A token that a user creates for themselves does not count as
 * self-granted. A SCIM token acts for an identity provider, so it stays usable when its creator is deactivated.
 */
const credentialAccess = `
  select 'personal_access_token', k.id, k.name, u.external_email, 'system', null, 'System', null,
    u.role, ${isActive}, k.created_at, k.expires_at, u.role = 'administrator', null, null, null,
    'personalAccessToken', k.id, '{create}', null
  from personal_access_tokens k join users u on u.id = k.user_id where not k.revoked and $1::uuid is null
  union all
  select 'scim_token', k.id, k.name, u.external_email, 'system', null, 'System', null,
    'provisioner', true, k.created_at, k.expires_at, true, null, null, null,
    'scimToken', k.id, '{create}', null
  from scim_tokens k join users u on u.id = k.creator_id where k.revoked_at is null and $1::uuid is null
  union all
  select 'machine_user', m.id, m.name, '', 'environment', m.environment_id, e.display_name, m.project_id,
    'machine', m.enabled, m.created_at, null, false, coalesce(m.last_rotated_at, m.created_at), m.id, null,
    'machineUser', m.id, '{create}', null
  from machine_users m join environments e on e.id = m.environment_id
  where $1::uuid is null or m.project_id = $1
  union all
  select 'machine_user', m.id, m.name, '', 'endpoint', x.endpoint_id, e.name, x.project_id,
    'caller', x.enabled and m.enabled, x.created_at, null, false, null, m.id, null,
    'machineUser2Endpoint', x.id, '{create}', null
  from machine_user2endpoints x join machine_users m on m.id = x.machine_user_id join endpoints e on e.id = x.endpoint_id
  where $1::uuid is null or x.project_id = $1`

// The role must be last: it can contain any character, so a field after it would be ambiguous.
const entryIdSql = `left(encode(sha256(convert_to(principal_type || E'\\n' || principal_id || E'\\n' || scope_type || E'\\n'
  || coalesce(scope_id::text, '') || E'\\n' || role, 'UTF8')), 'hex'), 32)`

/** Selects the complete access list. Each row has an entry id. */
export const population = `
  select ${entryIdSql} as entry_id, a.* from (${userAccess} union all ${credentialAccess}) a`

/**
 * Selects the row count of `entry` (entry_id, enabled, expires_at, permits) and the hash of its rows, in
 * hexadecimal. The rows are concatenated in 256 parts, so that no part exceeds the maximum size of a text
 * value.
 */
export const populationHash = `
  select encode(sha256(convert_to(coalesce('project ' || $1::text, 'system'), 'UTF8')
      || coalesce(string_agg(part, ''::bytea order by first), ''::bytea)), 'hex') as hash,
    coalesce(sum(count), 0)::int as count
  from (
    select left(entry_id, 2) collate "C" as first, count(*) as count,
      sha256(convert_to(string_agg(entry_id || ' ' || enabled || ' '
        || coalesce((extract(epoch from expires_at) * 1000)::bigint::text, '-') || coalesce(' ' || permits, ''), E'\\n' order by entry_id collate "C"), 'UTF8')) as part
    from entry group by 1
  ) parts`

// Selects the newest audit row that granted the access, with one index lookup per entry. If a person accepted an
// invitation, the inviter granted the access.
const newestGrant = `
  select coalesce(l.metadata ->> 'inviter_id', l.principal_id, l.user_id::text) as granted_by, l.created_at
  from audit_logs l
  where l.chain_id = coalesce(p.project_id, '${systemChain}'::uuid) and l.entity_id = p.entity_id::text
    and l.entity_type = p.entity_type and l.action = any(p.grants)
    and (p.entity_type <> 'user' or l.changes->'role'->>'after' = 'administrator')
  order by l.seq desc limit 1`

const withFacts = `
  select p.*, coalesce(p.granted_at, g.created_at) as given_at, g.granted_by,
    g.granted_by = p.held_by::text as is_self_granted,
    case p.principal_type when 'user' then ua.last_active_at when 'machine_user' then ma.last_active_at
      when 'scim_token' then s.last_used_at else k.last_used_at end as last_activity_at,
    -- Every use of a token is recorded, starting with the first.
    case when p.principal_type in ('personal_access_token', 'scim_token') then p.granted_at
      else greatest(coalesce(p.granted_at, g.created_at), r.started_at) end as known_from
  from (${population}) p
  cross join activity_recording r
  left join user_activity ua on p.principal_type = 'user' and ua.user_id = p.activity_of
  left join machine_user_activity ma on p.principal_type = 'machine_user' and ma.machine_user_id = p.activity_of
  left join personal_access_tokens k on p.principal_type = 'personal_access_token' and k.id = p.principal_id
  left join scim_tokens s on p.principal_type = 'scim_token' and s.id = p.principal_id
  left join lateral (${newestGrant}) g on true`

// The order must match flags.pure.ts.
const flagsSql = `array_remove(array[
    case when is_privileged then 'privileged' end,
    case when not enabled then 'disabled' end,
    case when expires_at <= now() then 'expired' end,
    case when expires_at > now() and expires_at <= now() + interval '30 days' then 'expires_soon' end,
    case when principal_type = 'personal_access_token' and expires_at is null then 'no_expiry' end,
    case when rotated_at < now() - interval '365 days' then 'credential_not_rotated' end,
    case when last_activity_at is null then 'never_active' end,
    case when coalesce(last_activity_at, known_from) < now() - interval '90 days' then 'dormant' end,
    case when is_self_granted then 'self_granted' end,
    case when granted_by is null then 'unrecorded_grant' end
  ], null)`

const activitySql = `case
    when last_activity_at is null then 'never'
    when last_activity_at > now() - interval '30 days' then 'under_30_days'
    when last_activity_at > now() - interval '90 days' then 'under_90_days'
    when last_activity_at > now() - interval '365 days' then 'under_1_year'
    else 'older' end`

const withFlags = `
  select f.*, ${flagsSql} as flags, ${activitySql} as activity from (${withFacts}) f`

/** Selects one row with the aggregates over the population, including at most $2 roles. */
export const selectSummary = `
  with entry as materialized (
    select entry_id, enabled, expires_at, permits, principal_type, principal_id, scope_type, role, flags, activity
    from (${withFlags}) w
  )
  select h.hash, h.count, now() as generated_at, (select started_at from activity_recording) as activity_recorded_since,
    (select count(*)::int from (select distinct principal_type, principal_id from entry) d) as principals,
    (select coalesce(json_object_agg(scope_type, n), '{}') from (
      select scope_type, count(distinct principal_id)::int as n from entry group by 1) s) as principals_by_scope,
    (select coalesce(json_agg(g), '[]') from (
      select principal_type, scope_type, activity, flags, count(*)::int as entries from entry group by 1, 2, 3, 4) g) as groups,
    (select coalesce(json_agg(r), '[]') from (
      select scope_type, role, count(*)::int as entries from entry group by 1, 2
      order by 3 desc, scope_type, role collate "C" limit $2) r) as roles
  from (${populationHash}) h`

const columns = `
  select w.entry_id, w.principal_type, w.principal_id,
    w.name, w.email,
    w.scope_type, w.scope_id, w.scope_name, w.project_id, p.name as project_name, w.role, w.enabled, w.given_at as granted_at,
    w.granted_by, w.last_activity_at, w.expires_at, w.flags, e.attestation_id, e.decision, t.created_at as attested_at,
    t.created_by as attested_by
  from (${withFlags}) w
  left join projects p on p.id = w.project_id
  left join access_entry_attestations e on e.entry_id = decode(w.entry_id, 'hex')
  left join access_attestations t on t.id = e.attestation_id`

/** Selects all entries. The entries of a principal are adjacent. */
export const selectAllEntries = `${columns}
  order by w.principal_type collate "C" desc, w.name collate "C", w.principal_id, w.scope_type collate "C", w.entry_id collate "C"`

/** Selects the first $2 entries by the rank of their flags. $3 contains flags joined by commas, and $4 their ranks. */
export const selectFirstEntries = `${columns}
  left join unnest($3::text[], $4::int[]) as ranked (flags, rank) on ranked.flags = array_to_string(w.flags, ',')
  order by ranked.rank, w.name collate "C", w.principal_id, w.entry_id collate "C" limit $2`
