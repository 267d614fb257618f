import type { MetricFactory } from '../../platform/metrics.ts'

export type NotificationMetrics = ReturnType<typeof createNotificationMetrics>

export const createNotificationMetrics = ({ counter }: MetricFactory) => ({
  emits: counter('svc_comms_emit_total', 'Notifications emitted by backends, by outcome.', {
    outcome: ['accepted', 'repeated', 'key_reused', 'past', 'disabled', 'foreign', 'rate_limited', 'failed'],
  }),
  recipients: counter('svc_comms_recipients_total', 'Recipients for whom notifications were written.'),
  publishes: counter('svc_comms_publish_total', 'Live hints published by backends, by outcome.', {
    outcome: ['accepted', 'disabled', 'foreign', 'rate_limited', 'failed'],
  }),
})
