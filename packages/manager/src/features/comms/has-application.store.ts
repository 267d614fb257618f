// Who has an application in a tenant, as a condition of the statements that need to know. Each step is a sub-select by
// unique key, so that it can only be a lookup.

/** The SQL expressions that name the three. */
type Names = { tenantId: string; applicationId: string; userId: string }

/**
 * True when the application is enabled for the tenant, and the user is a member of the tenant in a role that holds
 * `apps.read`, a member of the project, or an administrator; else false or null.
 */
export const hasApplication = ({ tenantId, applicationId, userId }: Names): string => `(
  select coalesce((
      select (select 'apps.read' = any (d.permissions) from tenant_role_definitions d
        where d.tenant_id = m.tenant_id and d.name = m.role_name)
      from user2tenants m where m.tenant_id = ${tenantId} and m.user_id = ${userId}), false)
    or coalesce((
      select true from user2projects p where p.project_id = enabled.project_id and p.user_id = ${userId}), false)
    or coalesce((select u.role = 'administrator' from users u where u.id = ${userId}), false)
  from tenant2applications enabled
  where enabled.tenant_id = ${tenantId} and enabled.application_id = ${applicationId} and enabled.enabled)`
