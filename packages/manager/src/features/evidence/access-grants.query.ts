import { accessColumns, accessJoins, assignments, memberships } from './access-columns.pure.ts'
import { after, anyOf, isAbout, trailQuery } from './trail-query.pure.ts'

export const accessGrants = trailQuery({
  name: 'access-grants',
  title: 'Granted access',
  description:
    'Memberships of users in projects, tenants and applications that were granted. Access of machine users to endpoints, and of tenants to applications, that was created or enabled. Changed roles are in role-changes.',
  controls: ['ISO/IEC 27001:2022 A.5.15', 'ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.2', 'NIST SP 800-53 AC-2'],
  columns: {
    ...accessColumns,
    role: `coalesce(${after('role')}, ${after('roleName')})`,
    enabled: `(${after('enabled')})::boolean`,
  },
  joins: accessJoins,
  condition: anyOf(
    isAbout(memberships, 'grant'),
    isAbout(assignments, 'create'),
    `(${isAbout(assignments, 'update')} and ${after('enabled')} = 'true')`,
  ),
})
