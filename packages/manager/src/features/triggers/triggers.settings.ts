// The settings of triggers: how their runs are delivered, and how long they are kept.
import { duration, durationList, integer, setting } from '../../config/readers.ts'

export const triggersSettings = {
  triggerAttemptTimeoutMs: setting(duration(1_000, 300_000), {
    key: 'triggers.attempt_timeout',
    env: 'SVC_TRIGGERS_ATTEMPT_TIMEOUT',
    default: 30_000,
    doc: 'How long a backend may take to answer the call of a trigger, such as `30s`; then the attempt has failed.',
  }),
  triggerRetryDelaysMs: setting(durationList({ minMs: 1_000, maxMs: 3_600_000, maxEntries: 10 }), {
    key: 'triggers.retry_delays',
    env: 'SVC_TRIGGERS_RETRY_DELAYS',
    default: [5_000, 30_000, 120_000],
    doc: 'How long each further attempt of a run waits after the one before, comma separated, each 20 % more or less. There are as many further attempts as times; with `none` there is no further one.',
  }),
  triggerMaxRetryAfterMs: setting(duration(0, 3_600_000), {
    key: 'triggers.max_retry_after',
    env: 'SVC_TRIGGERS_MAX_RETRY_AFTER',
    default: 300_000,
    doc: 'The longest time that a `Retry-After` of a backend puts off the next attempt.',
  }),
  triggerMisfireToleranceMs: setting(duration(60_000, 86_400_000), {
    key: 'triggers.misfire_tolerance',
    env: 'SVC_TRIGGERS_MISFIRE_TOLERANCE',
    default: 600_000,
    doc: 'After an outage, the newest instant that was missed still fires if it is younger than this; all others are recorded as missed.',
  }),
  triggerMaxDeliveries: setting(integer(1, 10_000), {
    key: 'triggers.max_deliveries',
    env: 'SVC_TRIGGERS_MAX_DELIVERIES',
    default: 512,
    doc: 'Attempts that a process makes at once.',
  }),
  triggerMaxDeliveriesPerDeployment: setting(integer(1, 10_000), {
    key: 'triggers.max_deliveries_per_deployment',
    env: 'SVC_TRIGGERS_MAX_DELIVERIES_PER_DEPLOYMENT',
    default: 32,
    doc: 'Of these, attempts for one application in one environment, so that slow backends delay only their own triggers.',
  }),
  triggerMaxPerProject: setting(integer(1, 1_000_000), {
    key: 'triggers.max_per_project',
    env: 'SVC_TRIGGERS_MAX_PER_PROJECT',
    default: 1_000,
    doc: 'Triggers that a project may have; a further one is refused. All of them may be due in the same minute.',
  }),
  triggerRunRetentionDays: setting(integer(31, 3_650), {
    key: 'triggers.run_retention_days',
    env: 'SVC_TRIGGERS_RUN_RETENTION_DAYS',
    default: 90,
    doc: 'How many days recorded runs are kept; a month of them goes when the last of its runs is older.',
  }),
} as const
