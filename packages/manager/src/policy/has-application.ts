// SQL conditions that decide whether a user has an application in a tenant. Each step is a subselect by unique key, so
// the planner can only choose an index lookup.

import { buildIsActiveSql } from '../platform/postgres/active-users.ts'

/** SQL expressions for the three ids. */
type IdExpressions = { tenantId: string; applicationId: string; userId: string }

/** True if the tenant role of a membership holds `apps.read`; `member` is the alias of a row of `user2tenants`. */
export const buildReadsApplicationsSql = (member: string): string =>
  `(select 'apps.read' = any (d.permissions) from tenant_role_definitions d
    where d.tenant_id = ${member}.tenant_id and d.name = ${member}.role_name)`

/**
 * True if the user is active, and an administrator, a project member, or a tenant member with `apps.read`. Such a user has
 * every application that is enabled for the tenant.
 */
export const buildMayUseApplicationsSql = (
  ids: Omit<IdExpressions, 'applicationId'> & { projectId: string },
): string => `(
    coalesce((select ${buildIsActiveSql('u')} from users u where u.id = ${ids.userId}), false) and (
    coalesce((
      select ${buildReadsApplicationsSql('m')}
      from user2tenants m where m.tenant_id = ${ids.tenantId} and m.user_id = ${ids.userId}), false)
    or coalesce((
      select true from user2projects p where p.project_id = ${ids.projectId} and p.user_id = ${ids.userId}), false)
    or coalesce((select u.role = 'administrator' from users u where u.id = ${ids.userId}), false)))`

/** True if the application is enabled for the tenant and the user may use it; otherwise false or null. */
export const buildHasApplicationSql = ({ tenantId, applicationId, userId }: IdExpressions): string => `(
  select ${buildMayUseApplicationsSql({ tenantId, projectId: 'enabled.project_id', userId })}
  from tenant2applications enabled
  where enabled.tenant_id = ${tenantId} and enabled.application_id = ${applicationId} and enabled.enabled)`
