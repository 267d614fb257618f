// Works on the jobs of one queue in one process: fetches as many as it has room for, says every few seconds that it still
// works on them, and gives back what it does not finish. A job whose process is lost is handed out to another.
import type { Logger } from '../log/log.ts'
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
export type Worker = {
  /** There is work: fetch it now. */
  nudge(): void
  held(): number
  /** Fetches no more, waits for jobs under way, and gives back those that take longer. */
  stop(graceMs: number): Promise<void>
}
type Held = { job: HeldJob; controller: AbortController; ended: Promise<void> }
type WorkerDeps = { jobs: Jobs; log: Logger; count: (outcome: JobOutcome) => void }

const maxFetch = 200
// Claims end ten seconds after the last touch.
const touchEveryMs = 3_000
// A fetch for each job that ends would cost as much as one for many.
const minPauseMs = 50
const worthAFetch = 32
const pauseAfterErrorMs = 1_000
const abortedMs = 1_000

/** Starts to work. */
export function startWorker(queue: Queue, deps: WorkerDeps): Worker {
  const { jobs, log, count } = deps
  const held = new Map<string, Held>()
  const alarm = createAlarm()
  let isStopping = false

  const lose = ({ controller }: Held): void => {
    controller.abort()
    count('lost')
  }
  const take = (fetched: readonly FetchedJob[]): void => {
    const begun = fetched.map((job) => {
      const controller = new AbortController()
      const former = held.get(job.id)
      // This process was taken for lost.
      if (former !== undefined) lose(former)
      return { job: { ...job, signal: controller.signal }, controller }
    })
    const ends = queue.run(begun.map(({ job }) => job))
    for (const [index, { job, controller }] of begun.entries()) {
      const entry: Held = { job, controller, ended: Promise.resolve() }
      held.set(job.id, entry)
      entry.ended = end(job, ends[index] ?? Promise.resolve()).finally(() => {
        if (held.get(job.id) === entry) held.delete(job.id)
        alarm.ring()
      })
    }
  }
  const end = async (job: HeldJob, run: Promise<void>): Promise<void> => {
    try {
      await run
      if (job.signal.aborted) return
      if (!jobs.isEnding(job)) await jobs.finish(queue.name, [job])
      count('done')
    } catch (error) {
      if (job.signal.aborted) return
      count('failed')
      log.error({ err: error, queue: queue.name, job: job.id }, 'job failed')
      await jobs.giveBack(queue.name, [job]).catch(() => undefined)
    }
  }
  /** Returns how long to wait before the next fetch. */
  const fetchOnce = async (): Promise<number> => {
    const room = Math.min(maxFetch, queue.maxHeld - held.size)
    if (room === 0) return queue.pollMs
    try {
      const fetched = await jobs.fetch(queue.name, {
        count: room,
        maxPerGroup: queue.maxHeldPerGroup ?? null,
        withoutGroups: groupsOfBusyOwners(held.values(), queue.maxHeldPerOwner ?? Infinity),
      })
      if (fetched.length > 0) take(fetched)
      if (fetched.length < room) return queue.pollMs
      return room < worthAFetch ? minPauseMs : 0
    } catch (error) {
      log.error({ err: error, queue: queue.name }, 'jobs cannot be fetched')
      return Math.max(pauseAfterErrorMs, queue.pollMs)
    }
  }
  const work = async (): Promise<void> => {
    while (!isStopping) {
      const pauseMs = await fetchOnce()
      if (pauseMs > 0 && !isStopping) {
        await pause(minPauseMs)
        await alarm.wait(pauseMs - minPauseMs)
      }
    }
  }
  const touch = async (): Promise<void> => {
    const claims = [...held.values()].map(({ job }) => job)
    if (claims.length === 0) return
    const kept = await jobs.touch(queue.name, claims)
    for (const { id } of claims) {
      const own = held.get(id)
      if (own === undefined || kept.has(id) || own.controller.signal.aborted || jobs.isEnding(own.job)) continue
      lose(own)
    }
  }
  const timer = setInterval(() => {
    touch().catch((error: unknown) => log.error({ err: error, queue: queue.name }, 'jobs cannot be touched'))
  }, touchEveryMs)
  const working = work()

  return {
    nudge: () => alarm.ring(),
    held: () => held.size,
    stop: async (graceMs) => {
      isStopping = true
      alarm.ring()
      await working
      await Promise.race([Promise.all([...held.values()].map(({ ended }) => ended)), pause(graceMs)])
      const rest = [...held.values()].filter(({ controller }) => !controller.signal.aborted)
      for (const { controller } of rest) controller.abort()
      clearInterval(timer)
      await Promise.race([Promise.all(rest.map(({ ended }) => ended)), pause(abortedMs)])
      await jobs.giveBack(
        queue.name,
        rest.map(({ job }) => job),
      )
      for (const _ of rest) count('given_back')
    },
  }
}

/** The groups, of those that are worked on, whose owners have as many jobs as they may. */
function groupsOfBusyOwners(held: Iterable<Held>, max: number): string[] {
  const groups = new Map<string, { count: number; groups: Set<string> }>()
  for (const { job } of held) {
    if (job.group === null) continue
    const owner = job.group.slice(0, job.group.indexOf('/'))
    const own = groups.get(owner) ?? { count: 0, groups: new Set() }
    groups.set(owner, { count: own.count + 1, groups: own.groups.add(job.group) })
  }
  return [...groups.values()].filter(({ count }) => count >= max).flatMap((own) => [...own.groups])
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A wait that can be ended early; a ring while nobody waits ends the next wait at once. */
function createAlarm() {
  let isRung = false
  let wake: (() => void) | null = null
  return {
    ring: (): void => {
      isRung = true
      wake?.()
    },
    wait: async (ms: number): Promise<void> => {
      if (!isRung) {
        const timeout = Promise.withResolvers<void>()
        const timer = setTimeout(timeout.resolve, ms)
        wake = timeout.resolve
        await timeout.promise
        clearTimeout(timer)
        wake = null
      }
      isRung = false
    },
  }
}
