import type { MetricFactory } from '../../platform/metrics.ts'

export type BackendMetrics = ReturnType<typeof createBackendMetrics>

export const createBackendMetrics = ({ counter, labeledGauge }: MetricFactory) => ({
  heartbeats: counter('svc_heartbeats_total', 'Backend heartbeats, by outcome.', {
    outcome: ['accepted', 'unknown', 'foreign'],
  }),
  setBackends: labeledGauge(
    'svc_backends',
    'Registered backends by state, as last counted by a process with the role jobs.',
    { label: 'state', values: ['live', 'stale'] },
  ),
})
