import { accessColumns, accessJoins, membershipKinds } from './access-columns.pure.ts'
import {
  buildAfterSql,
  joinWithOr,
  buildBeforeSql,
  buildEntityCondition,
  createTrailQuery,
} from './trail-query.pure.ts'

export const roleChanges = createTrailQuery({
  name: 'role-changes',
  title: 'Changed roles',
  description:
    'Changed roles of project, tenant and application members, changed system roles, tenant roles that were defined, changed or removed, and group rules that were created, changed or deleted. Rows show the role or the permissions before and after.',
  controls: ['ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.3', 'NIST SP 800-53 AC-2', 'NIST SP 800-53 AC-6'],
  columns: {
    ...accessColumns,
    role_before: `coalesce(${buildBeforeSql('role')}, ${buildBeforeSql('roleName')}, ${buildBeforeSql('name')})`,
    role_after: `coalesce(${buildAfterSql('role')}, ${buildAfterSql('roleName')}, ${buildAfterSql('name')})`,
    permissions_before: "l.changes #> '{permissions,before}'",
    permissions_after: "l.changes #> '{permissions,after}'",
  },
  joins: accessJoins,
  condition: joinWithOr(
    buildEntityCondition([...membershipKinds, 'user'], 'update'),
    buildEntityCondition(['tenantRoleDefinition']),
    buildEntityCondition(['groupRule'], 'create', 'update', 'delete'),
  ),
})
