// Runs the jobs of one queue in one process. The worker fetches as many jobs as it has room for, extends their leases
// every 3 s, and releases unfinished jobs when it stops. When a process crashes, its leases expire and another process
// fetches its jobs.
import type { Logger } from '../log/log.ts'
import { type Alarm, createAlarm, pause } from './alarm.ts'
import { type FairShare, type Lease, createFairShare } from '../throttle/fair-share.ts'
import type { FetchedJob, Jobs, Position } from './jobs.ts'

/** A job that this process runs. */
export type RunningJob<Data = unknown> = FetchedJob<Data> & {
  /** Aborted when this process loses or releases the job. The result is then not recorded. */
  signal: AbortSignal
}
/** The limits of a queue and the handler of its jobs. */
export type Queue = {
  name: string
  /** Maximum number of jobs that one process runs concurrently. */
  maxRunning: number
  /** Maximum number of running jobs per group across all processes. Concurrent fetches can exceed it slightly. */
  maxRunningPerGroup: number
  /** Whether each owner gets a fair share of the jobs that a process runs. */
  isShared?: boolean
  /** Poll interval for jobs that were enqueued without a notification. */
  pollMs: number
  /**
   * Starts jobs that were fetched together and returns one promise for each. A handler that writes its result in a
   * transaction finishes the job in the same transaction (`Jobs.finish`). The worker finishes other jobs when their
   * promise resolves. A rejection releases the job for a retry.
   */
  run(jobs: readonly RunningJob[]): Promise<void>[]
}
/** How a job ended in this process; `lost` means that its lease expired and the job was fetched again. */
export type JobOutcome = 'done' | 'failed' | 'lost' | 'given_back'
/** Dependencies of a worker; `count` records the outcome of each job. */
export type WorkerDeps = { jobs: Jobs; log: Logger; count: (outcome: JobOutcome) => void }
type RunningEntry = { job: RunningJob; controller: AbortController; endPromise: Promise<void> }
type AdmittedJob = { job: FetchedJob; slot: Lease | null }

const maxJobsPerFetch = 200
// A small number lets one fetch serve many groups, so that the fetched jobs do not all call the same backend.
const maxClaimedPerGroup = 4
// Leases expire 10 s after the last touch.
const touchIntervalMs = 3_000
// A fetch for one job costs as much as a fetch for many, so the worker does not fetch after every finished job.
const minPauseMs = 50
const minFreeSlotsToFetch = 32
const pauseAfterErrorMs = 1_000
const abortGraceMs = 1_000
// The actual delay is up to twice this value, plus up to 1 s until the job is noticed. A job that is postponed twice must
// still start within 3 s of its due time.
const postponeMs = 200
const maxFailurePauseMs = 60_000
const noWaiting = { maxWaiting: 0, maxWaitMs: 0, overloadMessage: '' }

/** Fetches and runs jobs from its creation until it is stopped. */
export class Worker {
  readonly #queue: Queue
  readonly #deps: WorkerDeps
  readonly #share: FairShare | null
  readonly #heldEntries = new Map<string, RunningEntry>()
  readonly #alarm: Alarm = createAlarm()
  readonly #touchTimer: NodeJS.Timeout
  readonly #workPromise: Promise<void>
  /** The next fetch continues after this group, so that every group is served. */
  #position: Position | null = null
  #isStopping = false

  constructor(queue: Queue, deps: WorkerDeps) {
    this.#queue = queue
    this.#deps = deps
    // The share needs no queue: excess jobs wait in the database.
    this.#share =
      queue.isShared === true ? createFairShare({ ...noWaiting, capacity: queue.maxRunning }) : null
    this.#touchTimer = setInterval(() => {
      this.#touch().catch((error: unknown) =>
        deps.log.error({ err: error, queue: queue.name }, 'cannot extend job leases'),
      )
    }, touchIntervalMs)
    this.#workPromise = this.#work()
  }

  /** Fetches now instead of at the next poll. */
  fetchNow(): void {
    this.#alarm.ring()
  }

  /** Number of running jobs. */
  get runningCount(): number {
    return this.#heldEntries.size
  }

  /** Stops fetching, waits up to `graceMs` for running jobs, then aborts and releases the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#alarm.ring()
    await this.#workPromise
    await Promise.race([
      Promise.all([...this.#heldEntries.values()].map(({ endPromise }) => endPromise)),
      pause(graceMs),
    ])
    const unfinishedJobs = [...this.#heldEntries.values()].filter(
      ({ controller }) => !controller.signal.aborted,
    )
    for (const { controller } of unfinishedJobs) controller.abort()
    clearInterval(this.#touchTimer)
    await Promise.race([Promise.all(unfinishedJobs.map(({ endPromise }) => endPromise)), pause(abortGraceMs)])
    await this.#deps.jobs.release(unfinishedJobs.map(({ job }) => job))
    for (const _ of unfinishedJobs) this.#deps.count('given_back')
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
    const { name, maxRunning, pollMs } = this.#queue
    if (this.#heldEntries.size >= maxRunning) return pollMs
    const freeSlots = this.#countFreeSlots()
    try {
      const isFromStart = this.#position === null
      const fetchedCount = await this.#fetchSome(freeSlots, maxClaimedPerGroup)
      let remainingSlots = freeSlots - fetchedCount
      // A second fetch only finds jobs in groups that the first fetch did not visit or did not empty.
      if (remainingSlots > 0 && (fetchedCount > 0 || !isFromStart))
        remainingSlots -= await this.#fetchSome(remainingSlots, remainingSlots)
      if (remainingSlots === freeSlots || (remainingSlots > 0 && this.#position === null)) return pollMs
      return freeSlots < minFreeSlotsToFetch ? minPauseMs : 0
    } catch (error) {
      this.#deps.log.error({ err: error, queue: name }, 'cannot fetch jobs')
      return Math.max(pauseAfterErrorMs, pollMs)
    }
  }

  /**
   * Returns how many jobs can start now. Reserved slots are not counted, because a fetch for them would claim more jobs
   * of one owner than its share admits, and postponed jobs start late. One job is fetched in any case: it may belong
   * to an owner that runs nothing, and has a reserved slot.
   */
  #countFreeSlots(): number {
    const freeSlots = this.#share?.unreservedAmount ?? this.#queue.maxRunning - this.#heldEntries.size
    return Math.max(1, Math.min(maxJobsPerFetch, freeSlots))
  }

  /** Fetches jobs after the position, starts those within the shares of their owners, and postpones the rest. */
  async #fetchSome(count: number, perVisit: number): Promise<number> {
    const { name, maxRunningPerGroup } = this.#queue
    const { jobs } = this.#deps
    const limits = {
      count,
      maxRunningPerGroup,
      maxClaimedPerGroup: perVisit,
      excludedOwners: this.#listBusyOwners(),
    }
    const { jobs: fetchedJobs, next } = await jobs.fetch(name, { ...limits, after: this.#position })
    this.#position = next
    const [admittedJobs, postponedJobs]: [AdmittedJob[], FetchedJob[]] = [[], []]
    for (const job of fetchedJobs) {
      const slot = this.#share?.tryTake(job.owner) ?? null
      if (this.#share !== null && slot === null) postponedJobs.push(job)
      else admittedJobs.push({ job, slot })
    }
    if (admittedJobs.length > 0) this.#start(admittedJobs)
    if (postponedJobs.length > 0) await jobs.release(postponedJobs, postponeMs)
    return fetchedJobs.length
  }

  /** Returns the owners that have used up their share. */
  #listBusyOwners(): string[] {
    const share = this.#share
    if (share === null) return []
    const owners = new Set([...this.#heldEntries.values()].map(({ job }) => job.owner))
    return [...owners].filter((owner) => !share.hasSlotFor(owner))
  }

  #start(admittedJobs: readonly AdmittedJob[]): void {
    const startedJobs = admittedJobs.map(({ job, slot }) => {
      const controller = new AbortController()
      const previousEntry = this.#heldEntries.get(job.id)
      // The lease expired while this process was still running the job.
      if (previousEntry !== undefined) this.#abortLost(previousEntry)
      return { job: { ...job, signal: controller.signal }, controller, slot }
    })
    const runs = this.#queue.run(startedJobs.map(({ job }) => job))
    for (const [index, { job, controller, slot }] of startedJobs.entries()) {
      const entry: RunningEntry = { job, controller, endPromise: Promise.resolve() }
      this.#heldEntries.set(job.id, entry)
      entry.endPromise = this.#end(job, runs[index] ?? Promise.resolve()).finally(() => {
        if (this.#heldEntries.get(job.id) === entry) this.#heldEntries.delete(job.id)
        slot?.release()
        this.#alarm.ring()
      })
    }
  }

  async #end(job: RunningJob, run: Promise<void>): Promise<void> {
    const { jobs, count, log } = this.#deps
    const { name } = this.#queue
    try {
      await run
      if (job.signal.aborted) return
      if (!jobs.isFinishing(job)) await jobs.finish([job])
      count('done')
    } catch (error) {
      if (job.signal.aborted) return
      count('failed')
      log.error({ err: error, queue: name, job: job.id }, 'job failed')
      await jobs.release([job], computeFailurePauseMs(job)).catch(() => undefined)
    }
  }

  async #touch(): Promise<void> {
    const { jobs } = this.#deps
    // A touch and the transaction that finishes the job must not wait for each other's row locks.
    const entries = [...this.#heldEntries.values()].filter(({ job }) => !jobs.isFinishing(job))
    if (entries.length === 0) return
    const validIds = await jobs.touch(entries.map(({ job }) => job))
    for (const entry of entries) {
      const isReleased = this.#heldEntries.get(entry.job.id) !== entry || entry.controller.signal.aborted
      if (!isReleased && !validIds.has(entry.job.id) && !jobs.isFinishing(entry.job)) this.#abortLost(entry)
    }
  }

  #abortLost({ controller }: RunningEntry): void {
    controller.abort()
    this.#deps.count('lost')
  }
}

/** The delay doubles each time the job is fetched. */
const computeFailurePauseMs = ({ claims }: FetchedJob): number =>
  Math.min(maxFailurePauseMs, 1_000 * 2 ** Math.min(claims - 1, 6))
