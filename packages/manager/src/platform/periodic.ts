// Work that every `jobs` replica does now and then. A run that fails is counted and logged, and tried at the next turn;
// runs of one job never overlap in one process, and the work itself keeps replicas apart.
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

export type PeriodicJob = {
  name: string
  everyMs: number
  /** Runs once at the start too: a process may not live as long as the time between two runs. */
  atStart?: true
  run(): Promise<void>
}

/** Starts the jobs; the returned function stops them and waits for runs under way. */
export function startPeriodic(
  jobs: readonly PeriodicJob[],
  log: Logger,
  metrics: Metrics,
): () => Promise<void> {
  const running = new Map<string, Promise<void>>()
  const start = (job: PeriodicJob): void => {
    if (running.has(job.name)) return
    // What throws in a timer ends the process, so a run begins in the promise.
    const run = Promise.resolve()
      .then(() => job.run())
      .catch((error: unknown) => {
        metrics.jobFailures.inc({ job: job.name })
        log.error({ err: error, job: job.name }, 'periodic job failed')
      })
      .finally(() => running.delete(job.name))
    running.set(job.name, run)
  }
  const timers = jobs.map((job) => setInterval(() => start(job), job.everyMs))
  for (const job of jobs) if (job.atStart === true) start(job)
  return async () => {
    for (const timer of timers) clearInterval(timer)
    await Promise.all(running.values())
  }
}
