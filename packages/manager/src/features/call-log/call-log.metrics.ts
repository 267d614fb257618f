import type { MetricFactory } from '../../platform/metrics.ts'

export type CallLogMetrics = ReturnType<typeof createCallLogMetrics>

/** What the log of calls measures. */
export const createCallLogMetrics = ({ histogram }: MetricFactory) => ({
  batchRows: histogram('svc_esb_audit_batch_rows', 'Rows of ESB calls that one statement writes.', {
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  }),
  batchSeconds: histogram('svc_esb_audit_batch_seconds', 'Time such a statement takes.', {
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  }),
})
