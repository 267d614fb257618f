import type { MetricFactory } from '../../platform/metrics.ts'

export type NotificationMetrics = ReturnType<typeof createNotificationMetrics>

/** What is measured of notifications and live hints. */
export const createNotificationMetrics = ({ counter }: MetricFactory) => ({
  emits: counter('svc_comms_emit_total', 'Notifications that backends emitted, by what became of them.', {
    outcome: ['accepted', 'repeated', 'key_reused', 'past', 'disabled', 'foreign', 'rate_limited', 'failed'],
  }),
  recipients: counter('svc_comms_recipients_total', 'Recipients that notifications were written for.'),
  publishes: counter('svc_comms_publish_total', 'Live hints that backends published, by outcome.', {
    outcome: ['accepted', 'disabled', 'foreign', 'rate_limited', 'failed'],
  }),
})
