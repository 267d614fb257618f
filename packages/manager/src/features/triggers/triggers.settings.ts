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
    doc: 'Delays before the further attempts of a run, comma-separated, each varied by up to 20 %. Every delay adds one attempt; with `none` there is only the first attempt.',
  }),
  triggerMaxRetryAfterMs: defineSetting(duration(0, 3_600_000), {
    key: 'triggers.max_retry_after',
    env: 'SVC_TRIGGERS_MAX_RETRY_AFTER',
    default: 300_000,
    doc: 'Maximum delay of the next attempt that a backend can request with `Retry-After`.',
  }),
  triggerMisfireToleranceMs: defineSetting(duration(60_000, 86_400_000), {
    key: 'triggers.misfire_tolerance',
    env: 'SVC_TRIGGERS_MISFIRE_TOLERANCE',
    default: 600_000,
    doc: 'After an outage, the newest missed run still fires if its planned time is more recent than this. All others are recorded as missed.',
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
    doc: 'Maximum number of runs that people can start or repeat in a project within any minute. Further requests are rejected with the number of seconds to wait.',
  }),
  triggerRunRetentionDays: defineSetting(integer(31, 3_650), {
    key: 'triggers.run_retention_days',
    env: 'SVC_TRIGGERS_RUN_RETENTION_DAYS',
    default: 90,
    doc: 'Days for which recorded runs are kept. A whole month of runs is deleted when its newest run is older than this.',
  }),
} as const
