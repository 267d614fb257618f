// Who has an application in a tenant, as a condition of the statements that need to know. Each step is a sub-select by
// unique key, so that it can only be a lookup.

/** The SQL expressions that name the three. */
type Names = { tenantId: string; applicationId: string; userId: string }

/**
 * True when the user is a member of the tenant in a role that holds `apps.read`, a member of the project, or an
 * administrator: whoever is has every application that is enabled for the tenant.
 */
export const mayUseApplications = (names: Omit<Names, 'applicationId'> & { projectId: string }): string => `(
    coalesce((
      select (select 'apps.read' = any (d.permissions) from tenant_role_definitions d
        where d.tenant_id = m.tenant_id and d.name = m.role_name)
      from user2tenants m where m.tenant_id = ${names.tenantId} and m.user_id = ${names.userId}), false)
    or coalesce((
      select true from user2projects p where p.project_id = ${names.projectId} and p.user_id = ${names.userId}), false)
    or coalesce((select u.role = 'administrator' from users u where u.id = ${names.userId}), false))`

/** True when the application is enabled for the tenant, and the user may use it; else false or null. */
export const hasApplication = ({ tenantId, applicationId, userId }: Names): string => `(
  select ${mayUseApplications({ tenantId, projectId: 'enabled.project_id', userId })}
  from tenant2applications enabled
  where enabled.tenant_id = ${tenantId} and enabled.application_id = ${applicationId} and enabled.enabled)`
