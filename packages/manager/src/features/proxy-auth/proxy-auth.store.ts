// One statement per kind of credential reads all data for the proxy: the credential, the owner and the owner's access.
// A shorter statement checks only whether the access is unchanged. Both use only index lookups, so the cost is
// independent of the number of rows.
import { buildIsActiveSql } from '../../platform/postgres/active-users.ts'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { createVersionSql } from '../../platform/postgres/project-version.ts'
import type { AccessRows, Tenant } from './access.pure.ts'
import { maxTenants } from './access.pure.ts'

type UserRow = {
  user_id: string
  external_name: string
  external_username: string
  external_email: string
  is_provisioned: boolean
  is_active: boolean
}

// Every step is a separate sub-select, so that the planner can only use a key lookup. A list contains at
// most one tenant more than the response. The extra tenant shows that the response is truncated.
const buildTenantListSql = (reached: string): string => `(
  select coalesce(json_agg(json_build_object('id', reached.tenant_id, 'name', reached.name)
    order by reached.name, reached.tenant_id), '[]') from (${reached} limit ${maxTenants + 1}) reached)`
const buildTenantNameSql = (id: string): string => `(select t.name from tenants t where t.id = ${id}) as name`
const allTenants = buildTenantListSql(`
  select enabled.tenant_id, ${buildTenantNameSql('enabled.tenant_id')} from tenant2applications enabled
  where enabled.application_id = app.id and enabled.enabled order by enabled.id`)
const ownTenants = buildTenantListSql(`
  select m.tenant_id, ${buildTenantNameSql('m.tenant_id')} from user2tenants m
  where m.user_id = u.id and m.project_id = app.project_id
    and (select 'apps.read' = any (d.permissions) from tenant_role_definitions d
      where d.tenant_id = m.tenant_id and d.name = m.role_name)
    and (select enabled.enabled from tenant2applications enabled
      where enabled.tenant_id = m.tenant_id and enabled.application_id = app.id)`)
// The list of all tenants is read once. All callers in the batch that can access all tenants share it.
const buildSharedTenantsSql = (isStaff: string): string => `case when ${isStaff}
  and row_number() over (partition by app.id, ${isStaff} order by wanted.position) = 1 then ${allTenants} end`
const applicationQuery = `
  select a.id, a.project_id from applications a where a.id = wanted.application_id limit 1`

/** The short statement reads the identity and the access version. The long statement also reads the access. */
export type AccessStatements = { short: PreparedStatement; long: PreparedStatement }
const createStatements = (
  name: string,
  clauses: { columns: string; access: string; from: string; more?: string },
): AccessStatements => ({
  short: {
    name: `proxy-auth-${name}`,
    kind: 'read',
    text: `select wanted.position::int, ${clauses.columns} ${clauses.from}`,
  },
  long: {
    name: `proxy-auth-${name}-access`,
    kind: 'read',
    text: `select wanted.position::int, ${clauses.columns}, ${clauses.access} ${clauses.from} ${clauses.more ?? ''}`,
  },
})

const userColumns = `u.id as user_id, u.external_name, u.external_username, u.external_email, u.is_provisioned, u.is_active,
  app.project_id,
  u.role = 'administrator' as is_administrator, ${createVersionSql('app.project_id', 'access')} || ' ' || u.role as version`
const isStaff = `(u.role = 'administrator' or project.role is not null)`
const userAccess = `own.role as application_role, project.role as project_role, ${isStaff} as is_staff,
  ${buildSharedTenantsSql(isStaff)} as shared_tenants, case when not ${isStaff} then ${ownTenants} end as own_tenants`
const buildUserFromSql = (id: string): string => `
  cross join lateral (
    select users.id, external_name, external_username, external_email, role, is_provisioned,
      ${buildIsActiveSql('users')} as is_active
    from users where users.id = ${id} limit 1
  ) u
  left join lateral (${applicationQuery}) app on true`
const userRoles = `
  left join lateral (
    select ua.role from user2applications ua where ua.application_id = app.id and ua.user_id = u.id limit 1
  ) own on true
  left join lateral (
    select up.role from user2projects up where up.project_id = app.project_id and up.user_id = u.id limit 1
  ) project on true`

export type UserAccess = UserRow & AccessRows & VersionedAccess
export type TokenAccess = UserAccess & { id: string; hash: string; usable: boolean; unchecked: boolean }

export const accessTokenStatements = createStatements('by-access-token', {
  columns: `token.id, token.hash, token.usable and u.is_active as usable, token.unchecked, ${userColumns}`,
  access: userAccess,
  from: `
    from unnest($1::text[], $2::uuid[]) with ordinality as wanted (prefix, application_id, position)
    cross join lateral (
      select t.id, t.hash, t.user_id, not t.has_check as unchecked,
        not t.revoked and (t.expires_at is null or t.expires_at > now()) as usable
      from personal_access_tokens t where t.token_prefix = wanted.prefix limit 1
    ) token ${buildUserFromSql('token.user_id')}`,
  more: userRoles,
})

export const userStatements = createStatements('by-user', {
  columns: userColumns,
  access: userAccess,
  from: `
    from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (user_id, application_id, position)
    ${buildUserFromSql('wanted.user_id')}`,
  more: userRoles,
})

export type MachineAccess = VersionedAccess & {
  id: string
  name: string
  username: string
  enabled: boolean
  /** Null for a Bearer machine user. */
  password_hash: string | null
  project_id: string
  is_own_application: boolean
}

const machineColumns = `m.id, m.name, m.username, m.enabled, m.password_hash, m.project_id,
  app.id is not null as is_own_application, ${createVersionSql('m.project_id', 'access')} as version`
const machineAccess = `true as is_staff, ${buildSharedTenantsSql('app.id is not null')} as shared_tenants`

export const machineTokenStatements = createStatements('by-machine-token', {
  columns: machineColumns,
  access: machineAccess,
  from: `
    from unnest($1::bytea[], $2::uuid[]) with ordinality as wanted (token_hash, application_id, position)
    cross join lateral (
      select id, name, username, enabled, password_hash, project_id
      from machine_users where machine_users.token_hash = wanted.token_hash limit 1
    ) m
    left join lateral (
      select a.id from applications a where a.id = wanted.application_id and a.project_id = m.project_id limit 1
    ) app on true`,
})

// A Basic user name is unique within a project, and the application determines the project.
const machineByNameQuery = `
  select mu.id, mu.name, mu.username, mu.enabled, mu.password_hash, mu.project_id from machine_users mu
  where mu.project_id = app.project_id and mu.username = wanted.username and mu.password_hash is not null limit 1`
const namesFrom = `
  from unnest($1::text[], $2::uuid[]) with ordinality as wanted (username, application_id, position)
  cross join lateral (${applicationQuery}) app`

export const machineNameStatements = createStatements('by-machine-name', {
  columns: machineColumns,
  access: machineAccess,
  from: `${namesFrom} cross join lateral (${machineByNameQuery}) m`,
})

/**
 * The stored values for a password check. Fields that would take longer to read for an existing name are
 * excluded.
 */
export type BasicCredential = { project_id: string; password_hash: string | null; enabled: boolean | null }

const basicCredentialStatement: PreparedStatement = {
  name: 'proxy-auth-basic-credential',
  kind: 'read',
  text: `
    select wanted.position::int, app.project_id, m.password_hash, m.enabled
    ${namesFrom} left join lateral (${machineByNameQuery}) m on true`,
}

export type AccessLookup = { key: string | Buffer; applicationId: string }
export type VersionedAccess = { version: string; tenants: Tenant[] }
type TenantLists = { is_staff: boolean; shared_tenants: Tenant[] | null; own_tenants?: Tenant[] | null }

/** Reads the rows for (key, application) pairs in input order, with null if a row does not exist. */
export async function readRows<Row extends object>(
  run: RunPrepared,
  statement: PreparedStatement,
  accessLookups: readonly AccessLookup[],
): Promise<(Row | null)[]> {
  const values = [
    accessLookups.map(({ key }) => key),
    accessLookups.map(({ applicationId }) => applicationId),
  ]
  return orderByPosition<Row>(accessLookups.length, await run<Row & { position: number }>(statement, values))
}

/**
 * Works like `readRows`, but also reads the access. Callers that can access all tenants of an application share its
 * list.
 */
export async function readAccess<Row extends VersionedAccess>(
  run: RunPrepared,
  { long }: AccessStatements,
  accessLookups: readonly AccessLookup[],
): Promise<(Row | null)[]> {
  const rows = await readRows<Omit<Row, 'tenants'> & TenantLists>(run, long, accessLookups)
  const sharedLists = new Map<string | undefined, Tenant[]>()
  for (const [index, row] of rows.entries())
    if (row !== null && row.shared_tenants !== null)
      sharedLists.set(accessLookups[index]?.applicationId, row.shared_tenants)
  return rows.map((row, index) => {
    if (row === null) return null
    const sharedList = sharedLists.get(accessLookups[index]?.applicationId)
    return { ...row, tenants: (row.is_staff ? sharedList : row.own_tenants) ?? [] } as unknown as Row
  })
}

export const readBasicCredentials = (run: RunPrepared, accessLookups: readonly AccessLookup[]) =>
  readRows<BasicCredential>(run, basicCredentialStatement, accessLookups)

export type CatalogTenant = {
  id: string
  name: string
  slug: string
  role: string
  project_id: string
  deployment_mode: string
}

// The statement applies the same access rules; without an application, it covers all projects. The role in the tenant
// takes precedence over the role in the project. Administrators can access every tenant of a given application.
const catalogStatement: PreparedStatement = {
  name: 'proxy-auth-tenant-catalog',
  kind: 'read',
  text: `
    with u as (select id, role from users where id = $1 and ${buildIsActiveSql('users')}),
    app as (select id, project_id from applications where id = $2),
    member as (
      (select m.tenant_id, m.role_name as role from u join user2tenants m on m.user_id = u.id
        join tenant_role_definitions d on d.tenant_id = m.tenant_id and d.name = m.role_name
        where 'apps.read' = any (d.permissions)
          and ($2::uuid is null or exists (select 1 from tenant2applications enabled
            where enabled.tenant_id = m.tenant_id and enabled.application_id = $2 and enabled.enabled))
        limit ${maxTenants + 1})
    ),
    staff as (
      (select enabled.tenant_id, coalesce(up.role, u.role) as role
        from u cross join app left join user2projects up on up.project_id = app.project_id and up.user_id = u.id
        join tenant2applications enabled on enabled.application_id = app.id and enabled.enabled
        where up.id is not null or u.role = 'administrator'
        order by enabled.id limit ${maxTenants + 1})
      union all
      (select t.id, up.role from u join user2projects up on up.user_id = u.id
        join tenants t on t.project_id = up.project_id where $2::uuid is null limit ${maxTenants + 1})
    ),
    reached as (
      select tenant_id, role from member
      union all
      select tenant_id, role from staff where tenant_id not in (select tenant_id from member)
    )
    select t.id, t.name, t.slug, reached.role, t.project_id, t.deployment_mode
    from reached join tenants t on t.id = reached.tenant_id
    order by t.name, t.id limit ${maxTenants + 1}`,
}

/**
 * Returns the tenants that a person can choose, ordered by name. If an application is given, only tenants that have it
 * enabled are returned.
 */
export const readCatalog = (
  run: RunPrepared,
  userId: string,
  applicationId: string | null,
): Promise<CatalogTenant[]> => run<CatalogTenant>(catalogStatement, [userId, applicationId])
