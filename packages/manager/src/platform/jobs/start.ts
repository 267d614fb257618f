// Starts the work of a process that no request asks for: schedules of its roles, and, with role `jobs`, the queues.
import type { RoleName } from '../../config/readers.ts'
import type { Logger } from '../log/log.ts'
import type { MetricFactory, Metrics } from '../metrics.ts'
import type { Jobs } from './jobs.ts'
import { type Schedule, startSchedules } from './schedules.ts'
import { type JobOutcome, type Queue, Worker } from './worker.ts'

export type BackgroundWork = {
  schedules: readonly Schedule[]
  queues: readonly Queue[]
  jobs: Jobs
  log: Logger
  metrics: Metrics
}

// How late an expired lease is noticed, and a job whose time has come.
const wakeEveryMs = 1_000
const lookEvery = 5

const outcomes: readonly JobOutcome[] = ['done', 'failed', 'lost', 'given_back']
/** What is measured of queues. */
const createQueueMetrics = ({ counter, labelledGauge }: MetricFactory, queue: readonly string[]) => ({
  count: counter(
    'svc_jobs_total',
    'Jobs this process was handed: done, failed (handed out again), lost (handed to another process meanwhile), or given back at the end of the process.',
    { queue, outcome: outcomes },
  ),
  waiting: labelledGauge('svc_jobs_waiting', 'Jobs that are due and wait, as of the last count.', {
    label: 'queue',
    values: queue,
  }),
  oldest: labelledGauge('svc_jobs_oldest_seconds', 'For how long the next job that is due has waited.', {
    label: 'queue',
    values: queue,
  }),
  held: labelledGauge('svc_jobs_held', 'Jobs that this process works on.', { label: 'queue', values: queue }),
})

/** Waits so long for what is under way. */
type Stop = (graceMs: number) => Promise<void>

/** Starts it all; the returned function stops it. */
export function startBackgroundWork(work: BackgroundWork, roles: readonly RoleName[]): Stop {
  const { schedules, log, metrics } = work
  const own = schedules.filter(({ role = 'jobs' }) => roles.includes(role))
  const stopQueues = roles.includes('jobs') ? startQueues(work) : () => Promise.resolve()
  const stopSchedules = startSchedules(own, log, metrics)
  return async (graceMs) => {
    await Promise.all([stopSchedules(), stopQueues(graceMs)])
  }
}

function startQueues({ queues, jobs, log, metrics }: BackgroundWork): Stop {
  const names = queues.map(({ name }) => name)
  const measured = createQueueMetrics(metrics, names)
  const workers = new Map<string, Worker>()
  for (const queue of queues)
    workers.set(
      queue.name,
      new Worker(queue, {
        jobs,
        log,
        count: (outcome) => measured.count.inc({ queue: queue.name, outcome }),
      }),
    )
  const stopNudging = jobs.onEnqueued((queue) => workers.get(queue)?.nudge())
  let turn = 0
  const look = async (): Promise<void> => {
    const woken = await jobs.wake()
    for (const queue of woken) workers.get(queue)?.nudge()
    if (turn++ % lookEvery !== 0) return
    await jobs.adopt()
    for (const { queue, waiting, oldestSeconds } of await jobs.readBacklog(names)) {
      measured.waiting(queue, waiting)
      measured.oldest(queue, oldestSeconds)
      measured.held(queue, workers.get(queue)?.held ?? 0)
    }
  }
  const stopLooking = startSchedules([{ name: 'job-queues', everyMs: wakeEveryMs, run: look }], log, metrics)
  return async (graceMs) => {
    stopNudging()
    await stopLooking()
    await Promise.all([...workers.values()].map((worker) => worker.stop(graceMs)))
  }
}
