import { accessColumns, accessJoins } from './access-columns.pure.ts'
import {
  buildAfterSql,
  joinWithOr,
  buildBeforeSql,
  buildEntityCondition,
  createTrailQuery,
} from './trail-query.pure.ts'

const buildRoleCondition = (name: string, roles: string): string =>
  `(${buildBeforeSql(name)} in (${roles}) or ${buildAfterSql(name)} in (${roles}))`

// The condition uses the current definition of a role. The audit rows about the definition contain its previous
// permissions. Deleted roles match no row.
const hasMembersPermission = `exists (
  select from tenant_role_definitions d
  where d.tenant_id = ids.scope_id and d.name in (${['roleName', 'role'].flatMap((name) => [buildBeforeSql(name), buildAfterSql(name)]).join(', ')})
    and 'members' = any(d.permissions))`

export const privilegedAccess = createTrailQuery({
  name: 'privileged-access',
  title: 'Granted and revoked privileged access',
  description:
    'Changes to roles that can grant access to others. These are the system role administrator, the project roles maintainer and owner, and the tenant roles admin and owner. Tenant roles whose current definition has the permission members are included, as are changes to the definitions of tenant roles with that permission, and group rules that give such roles.',
  controls: ['ISO/IEC 27001:2022 A.8.2', 'SOC 2 CC6.1', 'SOC 2 CC6.3', 'NIST SP 800-53 AC-6'],
  columns: {
    ...accessColumns,
    role_before: `coalesce(${buildBeforeSql('role')}, ${buildBeforeSql('roleName')}, ${buildBeforeSql('name')})`,
    role_after: `coalesce(${buildAfterSql('role')}, ${buildAfterSql('roleName')}, ${buildAfterSql('name')})`,
  },
  joins: accessJoins,
  condition: `${buildEntityCondition(['user', 'user2project', 'user2tenant', 'tenantRoleDefinition', 'groupRule'])} and ${joinWithOr(
    `(${buildEntityCondition(['user'])} and ${buildRoleCondition('role', "'administrator'")})`,
    `(${buildEntityCondition(['user2project'])} and ${buildRoleCondition('role', "'maintainer', 'owner'")})`,
    `(${buildEntityCondition(['user2tenant'])} and ${joinWithOr(buildRoleCondition('roleName', "'admin', 'owner'"), hasMembersPermission)})`,
    `(${buildEntityCondition(['groupRule'])} and ${joinWithOr(buildRoleCondition('role', "'maintainer', 'owner', 'admin'"), hasMembersPermission)})`,
    `(${buildEntityCondition(['tenantRoleDefinition'])} and (l.changes #> '{permissions,before}' ? 'members'
      or l.changes #> '{permissions,after}' ? 'members'))`,
  )}`,
})
