// Works on the jobs of one queue in one process: fetches as many as it has room for, says every few seconds that it still
// works on them, and gives back what it does not finish. A job whose process is lost is handed out to another.
import type { Logger } from '../log/log.ts'
import { type Alarm, createAlarm, pause } from './alarm.ts'
import type { FetchedJob, Jobs } from './jobs.ts'

export type HeldJob<Data = unknown> = FetchedJob<Data> & {
  /** Aborted when the job is no longer this process's: whatever comes out of it is not recorded. */
  signal: AbortSignal
}
export type Queue = {
  /** As the migration names it. */
  name: string
  /** Jobs that a process works on at once. */
  maxHeld: number
  /** Jobs of one group that all processes together work on at once, or a few more where they fetch at the same time. */
  maxHeldPerGroup?: number
  /** Jobs of one owner that a process works on at once, or a few more, so that the others keep their share. */
  maxHeldPerOwner?: number
  /** How often it is looked for jobs that nobody announced. */
  pollMs: number
  /**
   * Begins jobs that were fetched together; one promise for each. A handler whose result is a part of a transaction ends
   * its job there (`Jobs.finish`); the worker ends the others when their promise resolves. A rejection gives a job back.
   */
  run(jobs: readonly HeldJob[]): Promise<void>[]
}
export type JobOutcome = 'done' | 'failed' | 'lost' | 'given_back'
export type WorkerDeps = { jobs: Jobs; log: Logger; count: (outcome: JobOutcome) => void }
type Held = { job: HeldJob; controller: AbortController; ended: Promise<void> }

const maxFetch = 200
// Claims end ten seconds after the last touch.
const touchEveryMs = 3_000
// A fetch for each job that ends would cost as much as one for many.
const minPauseMs = 50
const worthAFetch = 32
const pauseAfterErrorMs = 1_000
const abortedMs = 1_000

/** Works from its creation on, until it is stopped. */
export class Worker {
  readonly #queue: Queue
  readonly #deps: WorkerDeps
  readonly #held = new Map<string, Held>()
  readonly #alarm: Alarm = createAlarm()
  readonly #touching: NodeJS.Timeout
  readonly #working: Promise<void>
  #isStopping = false

  constructor(queue: Queue, deps: WorkerDeps) {
    this.#queue = queue
    this.#deps = deps
    this.#touching = setInterval(() => {
      this.#touch().catch((error: unknown) =>
        deps.log.error({ err: error, queue: queue.name }, 'jobs cannot be touched'),
      )
    }, touchEveryMs)
    this.#working = this.#work()
  }

  /** There is work: fetch it now. */
  nudge(): void {
    this.#alarm.ring()
  }

  /** How many jobs it works on. */
  get held(): number {
    return this.#held.size
  }

  /** Fetches no more, waits for jobs under way, and gives back those that take longer. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#alarm.ring()
    await this.#working
    await Promise.race([Promise.all([...this.#held.values()].map(({ ended }) => ended)), pause(graceMs)])
    const rest = [...this.#held.values()].filter(({ controller }) => !controller.signal.aborted)
    for (const { controller } of rest) controller.abort()
    clearInterval(this.#touching)
    await Promise.race([Promise.all(rest.map(({ ended }) => ended)), pause(abortedMs)])
    await this.#deps.jobs.giveBack(
      this.#queue.name,
      rest.map(({ job }) => job),
    )
    for (const _ of rest) this.#deps.count('given_back')
  }

  async #work(): Promise<void> {
    while (!this.#isStopping) {
      const pauseMs = await this.#fetch()
      if (pauseMs === 0 || this.#isStopping) continue
      await pause(minPauseMs)
      await this.#alarm.wait(pauseMs - minPauseMs)
    }
  }

  /** Returns how long to wait before the next fetch. */
  async #fetch(): Promise<number> {
    const { name, maxHeld, maxHeldPerGroup = null, maxHeldPerOwner = Infinity, pollMs } = this.#queue
    const count = Math.min(maxFetch, maxHeld - this.#held.size)
    if (count === 0) return pollMs
    try {
      const fetched = await this.#deps.jobs.fetch(name, {
        count,
        maxPerGroup: maxHeldPerGroup,
        withoutGroups: groupsOfBusyOwners(this.#held.values(), maxHeldPerOwner),
      })
      if (fetched.length > 0) this.#take(fetched)
      if (fetched.length < count) return pollMs
      return count < worthAFetch ? minPauseMs : 0
    } catch (error) {
      this.#deps.log.error({ err: error, queue: name }, 'jobs cannot be fetched')
      return Math.max(pauseAfterErrorMs, pollMs)
    }
  }

  #take(fetched: readonly FetchedJob[]): void {
    const begun = fetched.map((job) => {
      const controller = new AbortController()
      const former = this.#held.get(job.id)
      // This process was taken for lost.
      if (former !== undefined) this.#lose(former)
      return { job: { ...job, signal: controller.signal }, controller }
    })
    const runs = this.#queue.run(begun.map(({ job }) => job))
    for (const [index, { job, controller }] of begun.entries()) {
      const entry: Held = { job, controller, ended: Promise.resolve() }
      this.#held.set(job.id, entry)
      entry.ended = this.#end(job, runs[index] ?? Promise.resolve()).finally(() => {
        if (this.#held.get(job.id) === entry) this.#held.delete(job.id)
        this.#alarm.ring()
      })
    }
  }

  async #end(job: HeldJob, run: Promise<void>): Promise<void> {
    const { jobs, count, log } = this.#deps
    const { name } = this.#queue
    try {
      await run
      if (job.signal.aborted) return
      if (!jobs.isEnding(job)) await jobs.finish(name, [job])
      count('done')
    } catch (error) {
      if (job.signal.aborted) return
      count('failed')
      log.error({ err: error, queue: name, job: job.id }, 'job failed')
      await jobs.giveBack(name, [job]).catch(() => undefined)
    }
  }

  async #touch(): Promise<void> {
    const { jobs } = this.#deps
    const entries = [...this.#held.values()]
    if (entries.length === 0) return
    const kept = await jobs.touch(
      this.#queue.name,
      entries.map(({ job }) => job),
    )
    for (const entry of entries) {
      const isOver = this.#held.get(entry.job.id) !== entry || entry.controller.signal.aborted
      if (!isOver && !kept.has(entry.job.id) && !jobs.isEnding(entry.job)) this.#lose(entry)
    }
  }

  #lose({ controller }: Held): void {
    controller.abort()
    this.#deps.count('lost')
  }
}

/** The groups, of those that are worked on, whose owners have as many jobs as they may. */
function groupsOfBusyOwners(held: Iterable<Held>, max: number): string[] {
  const owners = new Map<string, { count: number; groups: Set<string> }>()
  for (const { job } of held) {
    if (job.group === null) continue
    const owner = job.group.slice(0, job.group.indexOf('/'))
    const own = owners.get(owner) ?? { count: 0, groups: new Set() }
    owners.set(owner, { count: own.count + 1, groups: own.groups.add(job.group) })
  }
  return [...owners.values()].filter(({ count }) => count >= max).flatMap(({ groups }) => [...groups])
}
