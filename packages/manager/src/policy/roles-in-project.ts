// Reads the roles of a caller in a project, batched with concurrent requests. They are read from the database for every
// request, so the loss of a role takes effect on the next request.
import type { Lookup, RunLookup } from '../platform/postgres/lookups.ts'
import type { ApplicationRole, ProjectRole, TenantPermission } from './roles.ts'

/** Roles and permissions of the caller in one project. */
export type RolesInProject = {
  projectRole: ProjectRole | null
  tenants: Map<string, ReadonlySet<TenantPermission>>
  /** Names of the caller's tenant roles, by tenant id. */
  tenantRoles: Map<string, string>
  applications: Map<string, ApplicationRole>
}

type Row = {
  projectRole: ProjectRole | null
  tenants: { id: string; role: string; permissions: TenantPermission[] }[] | null
  applications: { id: string; role: ApplicationRole }[] | null
}

const rolesLookup: Lookup<Row> = {
  name: 'roles-in-project',
  kind: 'read',
  // A person can be a member of thousands of tenants.
  size: 'large',
  text: `
    select wanted.position::int,
      (select p.role from user2projects p
        where p.user_id = wanted.user_id and p.project_id = wanted.project_id limit 1) as "projectRole",
      (select json_agg(json_build_object('id', m.tenant_id, 'role', m.role_name, 'permissions', d.permissions))
        from user2tenants m
        join tenant_role_definitions d on d.tenant_id = m.tenant_id and d.name = m.role_name
        where m.user_id = wanted.user_id and m.project_id = wanted.project_id) as tenants,
      (select json_agg(json_build_object('id', a.application_id, 'role', a.role)) from user2applications a
        where a.user_id = wanted.user_id and a.project_id = wanted.project_id) as applications
    from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (user_id, project_id, position)`,
}

/** Returns the roles of a user in a project. */
export async function readRoles(
  lookUp: RunLookup,
  userId: string,
  projectId: string,
): Promise<RolesInProject> {
  const row = await lookUp(rolesLookup, [userId, projectId])
  const [tenants, applications] = [row?.tenants ?? [], row?.applications ?? []]
  return {
    projectRole: row?.projectRole ?? null,
    tenants: new Map(tenants.map(({ id, permissions }) => [id, new Set(permissions)])),
    tenantRoles: new Map(tenants.map(({ id, role }) => [id, role])),
    applications: new Map(applications.map(({ id, role }) => [id, role])),
  }
}
