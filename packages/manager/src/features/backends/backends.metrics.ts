import type { MetricFactory } from '../../platform/metrics.ts'

export type BackendMetrics = ReturnType<typeof createBackendMetrics>

/** What is measured of backends. */
export const createBackendMetrics = ({ counter, labelledGauge }: MetricFactory) => ({
  heartbeats: counter('svc_heartbeats_total', 'Heartbeats of backends, by what they met.', {
    outcome: ['accepted', 'unknown', 'foreign'],
  }),
  setBackends: labelledGauge(
    'svc_backends',
    'Registered backends, live or stale, as a process with role jobs counted them last.',
    { label: 'state', values: ['live', 'stale'] },
  ),
})
