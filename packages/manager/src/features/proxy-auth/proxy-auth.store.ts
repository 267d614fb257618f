// One statement per kind of credential answers everything the proxy asks: the credential's row, its owner, and what the
// owner may do in the application. Each looks rows up by index only; its cost does not depend on the number of rows.
import type { Database, PreparedStatement } from '../../platform/db/database.ts'
import type { AccessRows, Tenant } from './access.ts'
import { maxTenants } from './access.ts'

type Read = Database['read']
export type UserRow = {
  user_id: string
  external_name: string
  external_username: string
  external_email: string
}

// A tenant in the answer; reached is where its id comes from.
const tenantList = `coalesce(
  json_agg(json_build_object('id', reached.tenant_id, 'name', reached.name) order by reached.name, reached.tenant_id),
  '[]') as tenants`
const tenantName = (id: string): string => `(select t.name from tenants t where t.id = ${id}) as name`

// Expects wanted.application_id and the user as u. Staff of the project and administrators reach every tenant the
// application is enabled for; others those they belong to with a role that may use applications. At most one tenant
// more than the answer lists is read. Every step is a sub-select of its own, so that it can only be a lookup by key.
const userAccess = `
  left join lateral (
    select a.id, a.project_id from applications a where a.id = wanted.application_id limit 1
  ) app on true
  left join lateral (
    select ua.role from user2applications ua where ua.application_id = app.id and ua.user_id = u.id limit 1
  ) own on true
  left join lateral (
    select up.role from user2projects up where up.project_id = app.project_id and up.user_id = u.id limit 1
  ) project on true
  left join lateral (
    select ${tenantList} from (
      (select enabled.tenant_id, ${tenantName('enabled.tenant_id')} from tenant2applications enabled
        where (u.role = 'administrator' or project.role is not null)
          and enabled.application_id = app.id and enabled.enabled
        order by enabled.id limit ${maxTenants + 1})
      union all
      (select m.tenant_id, ${tenantName('m.tenant_id')} from user2tenants m
        where u.role <> 'administrator' and project.role is null
          and m.user_id = u.id and m.project_id = app.project_id
          and (select 'apps.read' = any (d.permissions) from tenant_role_definitions d
            where d.tenant_id = m.tenant_id and d.name = m.role_name)
          and (select enabled.enabled from tenant2applications enabled
            where enabled.tenant_id = m.tenant_id and enabled.application_id = app.id)
        limit ${maxTenants + 1})
    ) reached
  ) reach on true`
const userColumns = `u.id as user_id, u.external_name, u.external_username, u.external_email`
const accessColumns = `app.project_id, u.role = 'administrator' as is_administrator,
  own.role as application_role, project.role as project_role, reach.tenants`
const theUser = (id: string): string => `
  cross join lateral (
    select users.id, external_name, external_username, external_email, role from users where users.id = ${id} limit 1
  ) u`

export type TokenAccess = UserRow & AccessRows & { id: string; hash: string; usable: boolean }

const byAccessToken: PreparedStatement = {
  name: 'proxy-auth-by-access-token',
  text: `
    select wanted.position::int, token.id, token.hash, token.usable, ${userColumns}, ${accessColumns}
    from unnest($1::text[], $2::uuid[]) with ordinality as wanted (prefix, application_id, position)
    cross join lateral (
      select t.id, t.hash, t.user_id, not t.revoked and (t.expires_at is null or t.expires_at > now()) as usable
      from personal_access_tokens t where t.token_prefix = wanted.prefix limit 1
    ) token ${theUser('token.user_id')} ${userAccess}`,
}

const byUser: PreparedStatement = {
  name: 'proxy-auth-by-user',
  text: `
    select wanted.position::int, ${userColumns}, ${accessColumns}
    from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (user_id, application_id, position)
    ${theUser('wanted.user_id')} ${userAccess}`,
}

export type MachineAccess = {
  id: string
  name: string
  username: string
  enabled: boolean
  /** Null for a machine user that has a token. */
  password_hash: string | null
  is_own_application: boolean
  tenants: Tenant[]
}

// Expects the application, when it is one of the machine user's project, as app.
const machineAccess = `
  left join lateral (
    select ${tenantList} from (
      select enabled.tenant_id, ${tenantName('enabled.tenant_id')} from tenant2applications enabled
      where enabled.application_id = app.id and enabled.enabled
      order by enabled.id limit ${maxTenants + 1}
    ) reached
  ) reach on true`
const machineColumns = `wanted.position::int, m.id, m.name, m.username, m.enabled, m.password_hash,
  app.id is not null as is_own_application, reach.tenants`

const byMachineToken: PreparedStatement = {
  name: 'proxy-auth-by-machine-token',
  text: `
    select ${machineColumns}
    from unnest($1::bytea[], $2::uuid[]) with ordinality as wanted (token_hash, application_id, position)
    cross join lateral (
      select id, name, username, enabled, password_hash, project_id
      from machine_users where machine_users.token_hash = wanted.token_hash limit 1
    ) m
    left join lateral (
      select a.id from applications a where a.id = wanted.application_id and a.project_id = m.project_id limit 1
    ) app on true ${machineAccess}`,
}

// A Basic user name is unique within a project, and the application names the project.
const byMachineName: PreparedStatement = {
  name: 'proxy-auth-by-machine-name',
  text: `
    select ${machineColumns}
    from unnest($1::text[], $2::uuid[]) with ordinality as wanted (username, application_id, position)
    cross join lateral (
      select a.id, a.project_id from applications a where a.id = wanted.application_id limit 1
    ) app
    cross join lateral (
      select mu.id, mu.name, mu.username, mu.enabled, mu.password_hash from machine_users mu
      where mu.project_id = app.project_id and mu.username = wanted.username and mu.password_hash is not null limit 1
    ) m ${machineAccess}`,
}

/** Reads rows for (key, application) pairs, in their order; null where there is none. */
const reader =
  <Row extends object>(statement: PreparedStatement) =>
  async (read: Read, wanted: { key: string | Buffer; applicationId: string }[]): Promise<(Row | null)[]> => {
    const values = [wanted.map(({ key }) => key), wanted.map(({ applicationId }) => applicationId)]
    const found: (Row | null)[] = wanted.map(() => null)
    for (const { position, ...row } of await read<Row & { position: number }>(statement, values))
      found[position - 1] = row as unknown as Row
    return found
  }

export const readByAccessToken = reader<TokenAccess>(byAccessToken)
export const readByUser = reader<UserRow & AccessRows>(byUser)
export const readByMachineToken = reader<MachineAccess>(byMachineToken)
export const readByMachineName = reader<MachineAccess>(byMachineName)

export type CatalogTenant = {
  id: string
  name: string
  slug: string
  role: string
  project_id: string
  deployment_mode: string
}

// The same reach as above, over all projects when no application is named. The tenant's own role comes before the
// project's; administrators reach every tenant of a named application.
const catalog: PreparedStatement = {
  name: 'proxy-auth-tenant-catalog',
  text: `
    with u as (select id, role from users where id = $1),
    app as (select id, project_id from applications where id = $2),
    member as (
      (select m.tenant_id, m.role_name as role from u join user2tenants m on m.user_id = u.id
        join tenant_role_definitions d on d.tenant_id = m.tenant_id and d.name = m.role_name
        where 'apps.read' = any (d.permissions) limit ${maxTenants + 1})
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
    where $2::uuid is null or exists (select 1 from tenant2applications enabled
      where enabled.tenant_id = t.id and enabled.application_id = $2 and enabled.enabled)
    order by t.name, t.id limit ${maxTenants + 1}`,
}

/** The tenants a person may choose from, by name; with an application only those it is enabled for. */
export const readCatalog = (
  read: Read,
  userId: string,
  applicationId: string | null,
): Promise<CatalogTenant[]> => read<CatalogTenant>(catalog, [userId, applicationId])
