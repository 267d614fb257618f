import type { MetricFactory } from '../../platform/metrics.ts'

export type PiletMetrics = ReturnType<typeof createPiletMetrics>

/** Creates the pilet metrics. `held` returns the number of bytes that uploads and responses keep in memory. */
export const createPiletMetrics = (
  { counter, computedGauge }: MetricFactory,
  held: { uploads: () => number; responses: () => number },
) => {
  computedGauge('svc_pilet_upload_bytes', 'Bytes of uploads in progress in this process.', held.uploads)
  computedGauge('svc_pilet_send_bytes', 'Bytes of bundles that this process is sending.', held.responses)
  return {
    uploads: counter('svc_pilet_uploads_total', 'Pilet uploads, by outcome.', {
      outcome: ['stored', 'refused', 'failed'],
    }),
  }
}
