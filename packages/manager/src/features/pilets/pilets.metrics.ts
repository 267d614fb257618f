import type { MetricFactory } from '../../platform/metrics.ts'

export type PiletMetrics = ReturnType<typeof createPiletMetrics>

/** What is measured of pilets; `held` says how many bytes uploads and responses hold. */
export const createPiletMetrics = (
  { counter, computedGauge }: MetricFactory,
  held: { uploads: () => number; responses: () => number },
) => {
  computedGauge('svc_pilet_upload_bytes', 'Bytes of uploads under way that this process holds.', held.uploads)
  computedGauge('svc_pilet_send_bytes', 'Bytes of bundles that responses hold.', held.responses)
  return {
    uploads: counter('svc_pilet_uploads_total', 'Uploads of pilets, by what became of them.', {
      outcome: ['stored', 'refused', 'failed'],
    }),
  }
}
