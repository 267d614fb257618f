import { accessColumns, accessJoins, assignments, memberships } from './access-columns.pure.ts'
import { after, anyOf, before, isAbout, trailQuery } from './trail-query.pure.ts'

export const accessRevocations = trailQuery({
  name: 'access-revocations',
  title: 'Revoked access',
  description:
    'Memberships that were revoked. Access of machine users to endpoints, and of tenants to applications, that was removed or disabled. Machine users that were disabled. Deletions of projects, tenants, applications, endpoints and machine users, each of which immediately revokes all related access.',
  controls: [
    'ISO/IEC 27001:2022 A.5.18',
    'SOC 2 CC6.2',
    'SOC 2 CC6.3',
    'NIST SP 800-53 AC-2',
    'NIST SP 800-53 PS-4',
  ],
  columns: { ...accessColumns, former_role: `coalesce(${before('role')}, ${before('roleName')})` },
  joins: accessJoins,
  condition: anyOf(
    isAbout(memberships, 'revoke'),
    isAbout([...assignments, 'project', 'tenant', 'application', 'endpoint', 'machineUser'], 'delete'),
    `(${isAbout([...assignments, 'machineUser'], 'update')} and ${after('enabled')} = 'false')`,
  ),
})
