import type { MetricFactory } from '../../platform/metrics.ts'

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>

export const createGatewayMetrics = ({ histogram, counterById }: MetricFactory) => ({
  forward: histogram(
    'svc_esb_forward_duration_seconds',
    'Duration of admitted ESB calls by outcome: answered, failed (502), refused, or abandoned (the caller closed the connection).',
    {
      labels: { outcome: ['answered', 'failed', 'refused', 'abandoned'] },
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    },
  ),
  /** The argument is the application id, or null if the call failed before the application was known. */
  countFailure: counterById(
    'svc_esb_failures_total',
    'ESB calls for which the Manager itself returned 500, 502 or 503, or truncated the response, by application.',
    { label: 'application', max: 200 },
  ),
})
