import type { MetricFactory } from '../../platform/metrics.ts'

export type CallLogMetrics = ReturnType<typeof createCallLogMetrics>

export const createCallLogMetrics = ({ gauge, histogram }: MetricFactory) => ({
  batchRows: histogram('svc_esb_audit_batch_rows', 'Number of ESB call rows written per statement.', {
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  }),
  batchSeconds: histogram(
    'svc_esb_audit_batch_seconds',
    'Duration of the statements that write ESB call rows.',
    {
      buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    },
  ),
  countLag: gauge(
    'svc_esb_call_count_lag_seconds',
    'Lag of the hourly ESB call counts. Calls that started less than this time ago may not be counted yet.',
  ),
})
