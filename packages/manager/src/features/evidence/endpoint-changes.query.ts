import { buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const endpointChanges = createTrailQuery({
  name: 'endpoint-changes',
  title: 'Changed and tested endpoints',
  description:
    'ESB endpoints that were created, changed or deleted, with the changed fields, and test calls to endpoints. For secrets, rows show only that they changed.',
  controls: ['ISO/IEC 27001:2022 A.8.9', 'ISO/IEC 27001:2022 A.8.32', 'SOC 2 CC8.1', 'NIST SP 800-53 CM-3'],
  condition: buildEntityCondition(['endpoint']),
})
