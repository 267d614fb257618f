// These settings limit the delivery and the retention of trigger runs.
import { duration, durationList, integer, defineSetting } from '../../config/readers.ts'

export const triggersSettings = {
  triggerAttemptTimeoutMs: defineSetting(duration(1_000, 300_000), {
    key: 'triggers.attempt_timeout',
    env: 'SVC_TRIGGERS_ATTEMPT_TIMEOUT',
    default: 30_000,
    doc: 'Maximum time for a backend to respond to a trigger call, such as `30s`. The attempt fails if the backend takes longer.',
  }),
  triggerRetryDelaysMs: defineSetting(durationList({ minMs: 1_000, maxMs: 3_600_000, maxEntries: 10 }), {
    key: 'triggers.retry_delays',
    env: 'SVC_TRIGGERS_RETRY_DELAYS',
    default: [5_000, 30_000, 120_000],
    doc: 'Delays before each retry of a run, comma-separated. The Manager varies each delay by up to 20 %. With `none`, a run has only one attempt.',
  }),
  triggerMaxRetryAfterMs: defineSetting(duration(0, 3_600_000), {
    key: 'triggers.max_retry_after',
    env: 'SVC_TRIGGERS_MAX_RETRY_AFTER',
    default: 300_000,
    doc: 'Maximum delay before the next attempt that a backend can request with `Retry-After`.',
  }),
  triggerMisfireToleranceMs: defineSetting(duration(60_000, 86_400_000), {
    key: 'triggers.misfire_tolerance',
    env: 'SVC_TRIGGERS_MISFIRE_TOLERANCE',
    default: 600_000,
    doc: 'Maximum age of a planned time that still fires after an outage. Only the newest missed run of a trigger fires; all others are recorded as missed.',
  }),
  triggerMaxDeliveries: defineSetting(integer(1, 10_000), {
    key: 'triggers.max_deliveries',
    env: 'SVC_TRIGGERS_MAX_DELIVERIES',
    default: 512,
    doc: 'Maximum number of concurrent attempts per process.',
  }),
  triggerMaxDeliveriesPerDeployment: defineSetting(integer(1, 10_000), {
    key: 'triggers.max_deliveries_per_deployment',
    env: 'SVC_TRIGGERS_MAX_DELIVERIES_PER_DEPLOYMENT',
    default: 32,
    doc: 'Maximum number of concurrent attempts for one application in one environment, so that slow backends delay only their own triggers.',
  }),
  triggerMaxPerProject: defineSetting(integer(1, 1_000_000), {
    key: 'triggers.max_per_project',
    env: 'SVC_TRIGGERS_MAX_PER_PROJECT',
    default: 1_000,
    doc: 'Maximum number of triggers in a project; additional triggers are rejected. All triggers of a project can be due in the same minute.',
  }),
  triggerManualRunsPerMinute: defineSetting(integer(1, 10_000), {
    key: 'triggers.manual_runs_per_minute',
    env: 'SVC_TRIGGERS_MANUAL_RUNS_PER_MINUTE',
    default: 30,
    doc: 'Maximum number of runs that people can start or repeat in a project per minute. Further requests are rejected, and the error contains the number of seconds to wait.',
  }),
  triggerRunRetentionDays: defineSetting(integer(31, 3_650), {
    key: 'triggers.run_retention_days',
    env: 'SVC_TRIGGERS_RUN_RETENTION_DAYS',
    default: 90,
    doc: 'Number of days for which recorded runs are kept. The runs of a month are deleted together, when the newest of them exceeds this age.',
  }),
} as const
