// Runs periodic jobs on every replica that has the role. A failed run is counted and logged, and the next
// interval retries it. Runs of one schedule never overlap within a process. The work itself must coordinate
// with other replicas.
import type { RoleName } from '../../config/readers.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'

/** A periodic job. */
export type Schedule = {
  name: string
  /** The role of the processes that run the job; `jobs` by default. */
  role?: RoleName
  everyMs: number
  /** Also runs at startup, because a process may exit before its first interval ends. */
  atStart?: true
  /** The signal aborts when the process shuts down, so that a long run can stop early. */
  run(signal?: AbortSignal): Promise<void>
}

/** Starts the jobs; the returned function stops them and waits for runs in progress. */
export function startSchedules(
  schedules: readonly Schedule[],
  log: Logger,
  metrics: Metrics,
): () => Promise<void> {
  const activeRuns = new Map<string, Promise<void>>()
  const shutdownController = new AbortController()
  const failureCounters = new Map(schedules.map(({ name }) => [name, metrics.jobFailures.startSeries(name)]))
  const start = (schedule: Schedule): void => {
    if (activeRuns.has(schedule.name)) return
    // An exception in a timer callback would crash the process, so the run starts inside the promise.
    const run = Promise.resolve()
      .then(() => schedule.run(shutdownController.signal))
      .catch((error: unknown) => {
        failureCounters.get(schedule.name)?.()
        log.error({ err: error, job: schedule.name }, 'periodic job failed')
      })
      .finally(() => activeRuns.delete(schedule.name))
    activeRuns.set(schedule.name, run)
  }
  const timers = schedules.map((schedule) => setInterval(() => start(schedule), schedule.everyMs))
  for (const schedule of schedules) if (schedule.atStart === true) start(schedule)
  return async () => {
    for (const timer of timers) clearInterval(timer)
    shutdownController.abort()
    await Promise.all(activeRuns.values())
  }
}
