import { buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const triggerChanges = createTrailQuery({
  name: 'trigger-changes',
  title: 'Changed triggers and backends',
  description:
    'Triggers that were created, changed or deleted; backends that registered, changed their callback URL or unregistered; and runs that a person started or retried. All trigger runs are in trigger-executions.',
  controls: ['ISO/IEC 27001:2022 A.8.9', 'ISO/IEC 27001:2022 A.8.32', 'SOC 2 CC8.1', 'NIST SP 800-53 CM-3'],
  condition: buildEntityCondition(['trigger', 'trigger_run', 'backendRegistration']),
})
