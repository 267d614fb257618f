import {
  accessColumns,
  accessJoins,
  assignments,
  membershipKinds,
  peopleColumns,
} from './access-columns.pure.ts'
import { buildAfterSql, joinWithOr, buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const accessGrants = createTrailQuery({
  name: 'access-grants',
  title: 'Granted access',
  description:
    'Granted memberships of users in projects, tenants and applications. Created or enabled access: of machine users to endpoints, and of tenants to applications. A person who accepts an invitation is the principal of the grant, and invited_by is the inviter. Roles that group rules gave to people; the subject is the group. Reactivated people, who have their roles again. Changed roles are in role-changes.',
  controls: ['ISO/IEC 27001:2022 A.5.15', 'ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.2', 'NIST SP 800-53 AC-2'],
  columns: {
    ...accessColumns,
    role: `coalesce(${buildAfterSql('role')}, ${buildAfterSql('roleName')})`,
    enabled: `(${buildAfterSql('enabled')})::boolean`,
    invited_by: "l.metadata ->> 'inviter_id'",
    ...peopleColumns,
  },
  joins: accessJoins,
  condition: joinWithOr(
    buildEntityCondition([...membershipKinds, 'groupRule'], 'grant'),
    buildEntityCondition(['user'], 'reactivate'),
    buildEntityCondition(assignments, 'create'),
    `(${buildEntityCondition(assignments, 'update')} and ${buildAfterSql('enabled')} = 'true')`,
  ),
})
