// Starts the background work of a process: the schedules of its roles and, with role `jobs`, the queue workers.
import type { RoleName } from '../../config/readers.ts'
import type { Logger } from '../log/log.ts'
import type { MetricFactory, Metrics } from '../metrics.ts'
import type { Jobs } from './jobs.ts'
import { type Schedule, startSchedules } from './schedules.ts'
import { type JobOutcome, type Queue, Worker } from './worker.ts'

/** The schedules and queues of all features, with the services that run them. */
export type BackgroundWork = {
  schedules: readonly Schedule[]
  queues: readonly Queue[]
  jobs: Jobs
  log: Logger
  metrics: Metrics
}

// Maximum delay until an expired lease or a due job is noticed.
const wakeIntervalMs = 1_000
const pollsPerBacklogRead = 5

const outcomes: readonly JobOutcome[] = ['done', 'failed', 'lost', 'given_back']
const createQueueMetrics = ({ counter, labeledGauge }: MetricFactory, queue: readonly string[]) => ({
  count: counter(
    'svc_jobs_total',
    'Jobs that this process fetched: done, failed (retried later), lost (lease expired), or given_back (released at shutdown).',
    { queue, outcome: outcomes },
  ),
  waiting: labeledGauge('svc_jobs_waiting', 'Due jobs that were waiting at the last count.', {
    label: 'queue',
    values: queue,
  }),
  oldest: labeledGauge('svc_jobs_oldest_seconds', 'Time since the oldest waiting job became due.', {
    label: 'queue',
    values: queue,
  }),
  held: labeledGauge('svc_jobs_held', 'Jobs that this process is running.', {
    label: 'queue',
    values: queue,
  }),
})

/** Waits up to `graceMs` for running jobs. */
type Stop = (graceMs: number) => Promise<void>

/** Starts the schedules and queue workers; the returned function stops them. */
export function startBackgroundWork(work: BackgroundWork, roles: readonly RoleName[]): Stop {
  const { schedules, log, metrics } = work
  const ownSchedules = schedules.filter(({ role = 'jobs' }) => roles.includes(role))
  const stopQueues = roles.includes('jobs') ? startQueues(work) : () => Promise.resolve()
  const stopSchedules = startSchedules(ownSchedules, log, metrics)
  return async (graceMs) => {
    await Promise.all([stopSchedules(), stopQueues(graceMs)])
  }
}

function startQueues({ queues, jobs, log, metrics }: BackgroundWork): Stop {
  const queueNames = queues.map(({ name }) => name)
  const queueMetrics = createQueueMetrics(metrics, queueNames)
  const workers = new Map<string, Worker>()
  for (const queue of queues)
    workers.set(
      queue.name,
      new Worker(queue, {
        jobs,
        log,
        count: (outcome) => queueMetrics.count.inc({ queue: queue.name, outcome }),
      }),
    )
  const stopListening = jobs.onEnqueued((queue) => workers.get(queue)?.fetchNow())
  let pollCount = 0
  const poll = async (): Promise<void> => {
    const wokenQueues = await jobs.wake()
    for (const queue of wokenQueues) workers.get(queue)?.fetchNow()
    if (pollCount++ % pollsPerBacklogRead !== 0) return
    await jobs.adopt()
    for (const { queue, waiting, oldestSeconds } of await jobs.readBacklog(queueNames)) {
      queueMetrics.waiting(queue, waiting)
      queueMetrics.oldest(queue, oldestSeconds)
      queueMetrics.held(queue, workers.get(queue)?.runningCount ?? 0)
    }
  }
  const stopPolling = startSchedules(
    [{ name: 'job-queues', everyMs: wakeIntervalMs, run: poll }],
    log,
    metrics,
  )
  return async (graceMs) => {
    stopListening()
    await stopPolling()
    await Promise.all([...workers.values()].map((worker) => worker.stop(graceMs)))
  }
}
