import type { MetricFactory } from '../../platform/metrics.ts'

export type CliLoginMetrics = ReturnType<typeof createCliLoginMetrics>

/** What is measured of logins from terminals. */
export const createCliLoginMetrics = ({ counter }: MetricFactory) => ({
  logins: counter('svc_cli_logins_total', 'Logins from terminals, by what happened to them.', {
    event: ['started', 'approved', 'denied', 'delivered', 'undelivered', 'dropped'],
  }),
})
