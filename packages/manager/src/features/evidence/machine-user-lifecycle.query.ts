import { castToUuid, buildFieldSql, buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const machineUserLifecycle = createTrailQuery({
  name: 'machine-user-lifecycle',
  title: 'Machine user lifecycle',
  description:
    'Machine users that were created, renamed, enabled, disabled or deleted, or whose credential was rotated. Their access is in access-grants and access-revocations.',
  controls: ['ISO/IEC 27001:2022 A.5.16', 'SOC 2 CC6.2', 'NIST SP 800-53 AC-2', 'NIST SP 800-53 IA-4'],
  columns: {
    machine_user_name: `coalesce(${buildFieldSql('name')}, named.name)`,
    enabled_before: "(l.changes #>> '{enabled,before}')::boolean",
    enabled_after: "(l.changes #>> '{enabled,after}')::boolean",
  },
  joins: `left join machine_users named on named.id = ${castToUuid('l.entity_id')}`,
  condition: buildEntityCondition(['machineUser']),
})
