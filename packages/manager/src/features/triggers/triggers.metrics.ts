import type { MetricFactory } from '../../platform/metrics.ts'

export type TriggerMetrics = ReturnType<typeof createTriggerMetrics>

const outcomes = [
  'delivered',
  'failed',
  'cancelled',
  'skipped_no_backend',
  'skipped_overlap',
  'missed',
] as const
type Outcome = (typeof outcomes)[number]
const isOutcome = (text: string): text is Outcome => outcomes.some((outcome) => outcome === text)

export const createTriggerMetrics = ({ counter, gauge, histogram }: MetricFactory) => {
  const runs = counter('svc_trigger_runs_total', 'Finished trigger runs, by outcome.', {
    outcome: outcomes,
  })
  return {
    /** Counts a planned run that has already finished because it was skipped or missed. */
    countPlanned: (outcome: string): void => {
      if (isOutcome(outcome)) runs.inc({ outcome })
    },
    runs,
    attempts: counter('svc_trigger_attempts_total', 'Attempts to call a backend, by result.', {
      result: ['delivered', 'retry', 'failed'],
    }),
    lag: histogram(
      'svc_trigger_lag_seconds',
      'Time from the planned time of a run to its first attempt, by the database clock.',
      { buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600] },
    ),
    countLag: gauge(
      'svc_trigger_run_count_lag_seconds',
      'Age of the newest trigger run that the hourly counts can include.',
    ),
  }
}
