import { accessColumns, accessJoins } from './access-columns.pure.ts'
import { after, anyOf, before, isAbout, trailQuery } from './trail-query.pure.ts'

const hasRole = (name: string, roles: string): string =>
  `(${before(name)} in (${roles}) or ${after(name)} in (${roles}))`

// The condition uses the current definition of a role. Previous permissions are in the audit rows of the definition.
// Deleted roles match no row.
const hasMembersPermission = `exists (
  select from tenant_role_definitions d
  where d.tenant_id = ids.scope_id and d.name in (${before('roleName')}, ${after('roleName')})
    and 'members' = any(d.permissions))`

export const privilegedAccess = trailQuery({
  name: 'privileged-access',
  title: 'Granted and revoked privileged access',
  description:
    'Changes to roles that allow granting access to others: the system role administrator, the project roles maintainer and owner, the tenant roles admin and owner, tenant roles whose current definition has the permission members, and definitions of tenant roles with that permission.',
  controls: ['ISO/IEC 27001:2022 A.8.2', 'SOC 2 CC6.1', 'SOC 2 CC6.3', 'NIST SP 800-53 AC-6'],
  columns: {
    ...accessColumns,
    role_before: `coalesce(${before('role')}, ${before('roleName')}, ${before('name')})`,
    role_after: `coalesce(${after('role')}, ${after('roleName')}, ${after('name')})`,
  },
  joins: accessJoins,
  condition: `${isAbout(['user', 'user2project', 'user2tenant', 'tenantRoleDefinition'])} and ${anyOf(
    `(${isAbout(['user'])} and ${hasRole('role', "'administrator'")})`,
    `(${isAbout(['user2project'])} and ${hasRole('role', "'maintainer', 'owner'")})`,
    `(${isAbout(['user2tenant'])} and ${anyOf(hasRole('roleName', "'admin', 'owner'"), hasMembersPermission)})`,
    `(${isAbout(['tenantRoleDefinition'])} and (l.changes #> '{permissions,before}' ? 'members'
      or l.changes #> '{permissions,after}' ? 'members'))`,
  )}`,
})
