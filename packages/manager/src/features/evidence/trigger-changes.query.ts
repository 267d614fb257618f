import { isAbout, trailQuery } from './trail-query.pure.ts'

export const triggerChanges = trailQuery({
  name: 'trigger-changes',
  title: 'Triggers, and the backends that they call, that were changed',
  description:
    'Triggers that were made, changed or deleted; backends that registered, moved or left; and runs that an operator had repeated. What triggers did is in trigger-executions.',
  controls: ['ISO/IEC 27001:2022 A.8.9', 'ISO/IEC 27001:2022 A.8.32', 'SOC 2 CC8.1', 'NIST SP 800-53 CM-3'],
  condition: isAbout(['trigger', 'trigger_run', 'backendRegistration']),
})
