// Works on the jobs of one queue in one process: fetches as many as it has room for, extends their leases every few seconds,
// and gives back those it does not finish. When a process is lost, its leases expire and another process fetches its jobs.
import type { Logger } from '../log/log.ts'
import { type Alarm, createAlarm, pause } from './alarm.ts'
import { type FairShare, type Lease, createFairShare } from '../throttle/fair-share.ts'
import type { FetchedJob, Jobs, Position } from './jobs.ts'

export type HeldJob<Data = unknown> = FetchedJob<Data> & {
  /** Aborted when the job is no longer this process's: whatever comes out of it is not recorded. */
  signal: AbortSignal
}
export type Queue = {
  name: string
  /** Jobs that a process works on at once. */
  maxHeld: number
  /** Jobs of one group that all processes together work on, or a few more if they fetch at the same moment. */
  maxHeldPerGroup: number
  /** Owners have fair shares of the jobs that a process works on. */
  isShared?: boolean
  /** Poll interval for jobs that were enqueued without a notification. */
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
type Taken = { job: FetchedJob; place: Lease | null }

const maxFetch = 200
// So few that a fetch serves many groups, and a backend is not called by all of its jobs together.
const maxPerVisit = 4
// Leases expire ten seconds after the last touch.
const touchEveryMs = 3_000
// A fetch for each job that ends would cost as much as one for many.
const minPauseMs = 50
const worthAFetch = 32
const pauseAfterErrorMs = 1_000
const abortedMs = 1_000
// Up to twice as long, and up to a second more until it is noticed: retries must stay close to their time.
const putOffMs = 500
const maxFailurePauseMs = 60_000
const noWait = { maxWaiting: 0, maxWaitMs: 0, full: '' }

/** Works from its creation on, until it is stopped. */
export class Worker {
  readonly #queue: Queue
  readonly #deps: WorkerDeps
  readonly #share: FairShare | null
  readonly #held = new Map<string, Held>()
  readonly #alarm: Alarm = createAlarm()
  readonly #touching: NodeJS.Timeout
  readonly #working: Promise<void>
  /** The next fetch continues after this group, so that every group has its turn. */
  #position: Position | null = null
  #isStopping = false

  constructor(queue: Queue, deps: WorkerDeps) {
    this.#queue = queue
    this.#deps = deps
    // Nobody waits here: the jobs do, in the database.
    this.#share = queue.isShared === true ? createFairShare({ ...noWait, capacity: queue.maxHeld }) : null
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
    await this.#deps.jobs.putBack(rest.map(({ job }) => job))
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
    const { name, maxHeld, pollMs } = this.#queue
    const room = Math.min(maxFetch, maxHeld - this.#held.size)
    if (room === 0) return pollMs
    try {
      const isFromStart = this.#position === null
      const some = await this.#fetchSome(room, maxPerVisit)
      let left = room - some
      // No group has more, unless it was not visited or had more than a visit takes.
      if (left > 0 && (some > 0 || !isFromStart)) left -= await this.#fetchSome(left, left)
      if (left === room || (left > 0 && this.#position === null)) return pollMs
      return room < worthAFetch ? minPauseMs : 0
    } catch (error) {
      this.#deps.log.error({ err: error, queue: name }, 'jobs cannot be fetched')
      return Math.max(pauseAfterErrorMs, pollMs)
    }
  }

  /** Fetches from the position on, begins what is within the shares of its owners, and puts the rest off. */
  async #fetchSome(count: number, perVisit: number): Promise<number> {
    const { name, maxHeldPerGroup: maxPerGroup } = this.#queue
    const { jobs } = this.#deps
    const wanted = { count, maxPerGroup, maxPerVisit: perVisit, withoutOwners: this.#busyOwners() }
    const { jobs: fetched, next } = await jobs.fetch(name, { ...wanted, after: this.#position })
    this.#position = next
    const [within, beyond]: [Taken[], FetchedJob[]] = [[], []]
    for (const job of fetched) {
      const place = this.#share?.tryTake(job.owner) ?? null
      if (this.#share !== null && place === null) beyond.push(job)
      else within.push({ job, place })
    }
    if (within.length > 0) this.#take(within)
    if (beyond.length > 0) await jobs.putBack(beyond, putOffMs)
    return fetched.length
  }

  /** The owners that have as many jobs as they may. */
  #busyOwners(): string[] {
    const share = this.#share
    if (share === null) return []
    const owners = new Set([...this.#held.values()].map(({ job }) => job.owner))
    return [...owners].filter((owner) => !share.isOpenTo(owner))
  }

  #take(taken: readonly Taken[]): void {
    const begun = taken.map(({ job, place }) => {
      const controller = new AbortController()
      const former = this.#held.get(job.id)
      // This process was taken for lost.
      if (former !== undefined) this.#lose(former)
      return { job: { ...job, signal: controller.signal }, controller, place }
    })
    const runs = this.#queue.run(begun.map(({ job }) => job))
    for (const [index, { job, controller, place }] of begun.entries()) {
      const entry: Held = { job, controller, ended: Promise.resolve() }
      this.#held.set(job.id, entry)
      entry.ended = this.#end(job, runs[index] ?? Promise.resolve()).finally(() => {
        if (this.#held.get(job.id) === entry) this.#held.delete(job.id)
        place?.release()
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
      if (!jobs.isEnding(job)) await jobs.finish([job])
      count('done')
    } catch (error) {
      if (job.signal.aborted) return
      count('failed')
      log.error({ err: error, queue: name, job: job.id }, 'job failed')
      await jobs.putBack([job], failurePauseMs(job)).catch(() => undefined)
    }
  }

  async #touch(): Promise<void> {
    const { jobs } = this.#deps
    // A touch must not wait for an end that is under way, nor the other way round.
    const entries = [...this.#held.values()].filter(({ job }) => !jobs.isEnding(job))
    if (entries.length === 0) return
    const kept = await jobs.touch(entries.map(({ job }) => job))
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

/** Twice as long each time. */
const failurePauseMs = ({ claims }: FetchedJob): number =>
  Math.min(maxFailurePauseMs, 1_000 * 2 ** Math.min(claims - 1, 6))
