import type { MetricFactory } from '../../platform/metrics.ts'

export type ScimMetrics = ReturnType<typeof createScimMetrics>

export const createScimMetrics = ({ counter }: MetricFactory) => ({
  changes: counter('svc_scim_changes_total', 'Changes to people over SCIM, by kind.', {
    kind: ['create', 'update', 'deactivate', 'reactivate', 'delete'],
  }),
  refused: counter('svc_scim_refused_total', 'SCIM searches that were refused, by reason.', {
    reason: ['rows', 'timeout'],
  }),
})
