import type { MetricFactory } from '../../platform/metrics.ts'

export type CliLoginMetrics = ReturnType<typeof createCliLoginMetrics>

export const createCliLoginMetrics = ({ counter }: MetricFactory) => ({
  logins: counter('svc_cli_logins_total', 'Terminal logins, by event.', {
    event: ['started', 'approved', 'denied', 'delivered', 'undelivered', 'dropped'],
  }),
})
