import type { MetricFactory } from '../../platform/metrics.ts'

export type ScimMetrics = ReturnType<typeof createScimMetrics>

/** The changes that are counted. */
export type ScimChangeKind = (typeof changeKinds)[number]
const changeKinds = [
  'create',
  'update',
  'deactivate',
  'reactivate',
  'delete',
  'group_create',
  'group_update',
  'group_delete',
] as const

export const createScimMetrics = ({ counter }: MetricFactory) => ({
  changes: counter('svc_scim_changes_total', 'Changes to people and groups over SCIM, by kind.', {
    kind: changeKinds,
  }),
  refused: counter('svc_scim_refused_total', 'SCIM searches that were refused, by reason.', {
    reason: ['rows', 'timeout'],
  }),
})
