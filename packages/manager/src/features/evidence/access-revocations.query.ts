import {
  accessColumns,
  accessJoins,
  assignments,
  membershipKinds,
  peopleColumns,
} from './access-columns.pure.ts'
import {
  buildAfterSql,
  joinWithOr,
  buildBeforeSql,
  buildEntityCondition,
  createTrailQuery,
} from './trail-query.pure.ts'

export const accessRevocations = createTrailQuery({
  name: 'access-revocations',
  title: 'Revoked access',
  description:
    'Revoked memberships. Roles that group rules took from people. Deactivated people. Removed or disabled access of machine users to endpoints and of tenants to applications. Disabled machine users. Deletions of projects, tenants, applications, endpoints and machine users, each of which immediately revokes all related access.',
  controls: [
    'ISO/IEC 27001:2022 A.5.18',
    'SOC 2 CC6.2',
    'SOC 2 CC6.3',
    'NIST SP 800-53 AC-2',
    'NIST SP 800-53 PS-4',
  ],
  columns: {
    ...accessColumns,
    former_role: `coalesce(${buildBeforeSql('role')}, ${buildBeforeSql('roleName')})`,
    ...peopleColumns,
  },
  joins: accessJoins,
  condition: joinWithOr(
    buildEntityCondition([...membershipKinds, 'groupRule'], 'revoke'),
    buildEntityCondition(['user'], 'deactivate'),
    buildEntityCondition(
      [...assignments, 'project', 'tenant', 'application', 'endpoint', 'machineUser'],
      'delete',
    ),
    `(${buildEntityCondition([...assignments, 'machineUser'], 'update')} and ${buildAfterSql('enabled')} = 'false')`,
  ),
})
