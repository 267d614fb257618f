// Work that every replica with a role does at intervals. A run that fails is counted and logged, and tried again next time;
// runs of one job never overlap in one process, and the work itself keeps replicas apart.
import type { RoleName } from '../../config/readers.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'

export type Schedule = {
  name: string
  /** The role of the processes that run it; `jobs` by default. */
  role?: RoleName
  everyMs: number
  /** Runs once at the start too: a process may not live as long as the time between two runs. */
  atStart?: true
  /** The signal asks a long run to end early, because the process does. */
  run(signal?: AbortSignal): Promise<void>
}

/** Starts the jobs; the returned function stops them and waits for runs in progress. */
export function startSchedules(
  schedules: readonly Schedule[],
  log: Logger,
  metrics: Metrics,
): () => Promise<void> {
  const running = new Map<string, Promise<void>>()
  const stopping = new AbortController()
  const countFailure = new Map(schedules.map(({ name }) => [name, metrics.jobFailures.of(name)]))
  const start = (schedule: Schedule): void => {
    if (running.has(schedule.name)) return
    // What throws in a timer ends the process, so a run begins in the promise.
    const run = Promise.resolve()
      .then(() => schedule.run(stopping.signal))
      .catch((error: unknown) => {
        countFailure.get(schedule.name)?.()
        log.error({ err: error, job: schedule.name }, 'periodic job failed')
      })
      .finally(() => running.delete(schedule.name))
    running.set(schedule.name, run)
  }
  const timers = schedules.map((schedule) => setInterval(() => start(schedule), schedule.everyMs))
  for (const schedule of schedules) if (schedule.atStart === true) start(schedule)
  return async () => {
    for (const timer of timers) clearInterval(timer)
    stopping.abort()
    await Promise.all(running.values())
  }
}
