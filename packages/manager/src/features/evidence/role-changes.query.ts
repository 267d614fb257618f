import { accessColumns, accessJoins, memberships } from './access-columns.pure.ts'
import { after, anyOf, before, isAbout, trailQuery } from './trail-query.pure.ts'

export const roleChanges = trailQuery({
  name: 'role-changes',
  title: 'Changed roles',
  description:
    'Changed roles of members of projects, tenants and applications, changed system roles, and tenant roles that were defined, changed or removed. Rows show the role or the permissions before and after.',
  controls: ['ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.3', 'NIST SP 800-53 AC-2', 'NIST SP 800-53 AC-6'],
  columns: {
    ...accessColumns,
    role_before: `coalesce(${before('role')}, ${before('roleName')}, ${before('name')})`,
    role_after: `coalesce(${after('role')}, ${after('roleName')}, ${after('name')})`,
    permissions_before: "l.changes #> '{permissions,before}'",
    permissions_after: "l.changes #> '{permissions,after}'",
  },
  joins: accessJoins,
  condition: anyOf(isAbout([...memberships, 'user'], 'update'), isAbout(['tenantRoleDefinition'])),
})
