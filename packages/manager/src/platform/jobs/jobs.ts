// Durable jobs: work that must not be lost. The transaction that causes a job also enqueues it, so the job exists if
// and only if the transaction commits. A fetch hides the job for the duration of a lease. A crashed process stops
// extending its leases, and another process fetches the jobs. All times come from the database clock.
import { CompiledQuery } from 'kysely'
import type { Tx } from '../postgres/handles.ts'
import type { Run } from '../postgres/prepared.ts'
import * as statements from './statements.ts'

/** A job to enqueue. `data` is stored as JSON. */
export type NewJob<Data extends object = object> = {
  data: Data
  delayMs?: number
  /** Each owner gets a fair share of the jobs that a process runs. */
  owner: string
  /** The number of running jobs per group is limited across all processes. */
  group: string
}
/** A fetched job, and the number of times it has been fetched. A later fetch invalidates this claim. */
export type JobClaim = { id: string; claims: number }
/** A claimed job with its data. */
export type FetchedJob<Data = unknown> = JobClaim & { data: Data; owner: string; group: string }
/** The group after which a fetch starts. */
export type Position = { owner: string; group: string }
/** Limits of a fetch and the group after which it starts. */
export type FetchOptions = {
  count: number
  /** Maximum number of running jobs per group across all processes. Concurrent fetches can exceed it slightly. */
  maxRunningPerGroup: number
  /** Maximum number of jobs that this fetch claims from one group; defaults to `count`. */
  maxClaimedPerGroup?: number
  excludedOwners?: readonly string[]
  /** Null starts with the first group. */
  after?: Position | null
}
type FetchResult = {
  jobs: FetchedJob[]
  /** Null when the last group was visited. */
  next: Position | null
}
type Backlog = { queue: string; waiting: number; oldestSeconds: number }
/** The job queues of the database. */
export type Jobs = ReturnType<typeof createJobs>

const maxWakeBatch = 1_000

/** `run` executes the statements of calls that pass no transaction. */
export function createJobs({ run }: { run: Run }) {
  /** Claims on jobs that are being finished. If a touch does not find such a claim, the job was deleted, not lost. */
  const finishingClaims = new WeakSet<JobClaim>()

  return {
    ...createAnnouncements(),

    /** Adds jobs in the transaction with one statement. */
    enqueue: async (tx: Tx, queue: string, jobs: readonly NewJob[]): Promise<void> => {
      if (jobs.length === 0) return
      await tx.executeQuery(
        CompiledQuery.raw(statements.enqueue, [
          queue,
          jobs.map(({ owner }) => owner),
          jobs.map(({ group }) => group),
          jobs.map(({ data }) => JSON.stringify(data)),
          jobs.map(({ delayMs }) => delayMs ?? null),
        ]),
      )
    },

    /** Deletes finished jobs. Returns the ids of the jobs whose claim was still valid. */
    finish: async (claims: readonly JobClaim[], tx?: Tx): Promise<ReadonlySet<string>> => {
      if (claims.length === 0) return new Set()
      for (const claim of claims) finishingClaims.add(claim)
      if (tx === undefined) return collectIds(await run(statements.finish, toValues(claims)))
      const query = CompiledQuery.raw(statements.finish.text, toValues(claims))
      return collectIds((await tx.executeQuery<{ id: string }>(query)).rows)
    },

    /** Claims waiting jobs, group by group. The cost depends on the groups visited, not on the number of jobs. */
    fetch: async (queue: string, options: FetchOptions): Promise<FetchResult> => {
      const {
        count,
        maxRunningPerGroup,
        maxClaimedPerGroup = count,
        excludedOwners = [],
        after = null,
      } = options
      const { owner, group } = after ?? { owner: '', group: '' }
      const values = [queue, count, maxRunningPerGroup, excludedOwners, owner, group, maxClaimedPerGroup]
      const rows = await run<FetchedJob | (Position & { id: null })>(statements.fetch, values)
      const jobs = rows.filter((row) => row.id !== null)
      const stopRow = rows.find((row) => row.id === null) ?? null
      return { jobs, next: jobs.length < count ? stopRow : findLastPosition(jobs) }
    },

    isFinishing: (claim: JobClaim): boolean => finishingClaims.has(claim),

    /** Extends the leases of the claims. Returns the ids of the claims that are still valid. */
    touch: async (claims: readonly JobClaim[]): Promise<ReadonlySet<string>> =>
      collectIds(await run(statements.touch, toValues(claims))),

    /** Releases jobs. They can be fetched again after a random delay between `delayMs` and twice that value. */
    release: async (claims: readonly JobClaim[], delayMs = 0): Promise<void> => {
      if (claims.length > 0) await run(statements.release, [...toValues(claims), delayMs])
    },

    /** Makes jobs with an expired lease or delay available; returns their queues. */
    wake: async (): Promise<ReadonlySet<string>> => {
      const queues = new Set<string>()
      for (let hasMore = true; hasMore;) {
        const wokenJobs = await run<{ queue: string }>(statements.wake, [maxWakeBatch])
        for (const { queue } of wokenJobs) queues.add(queue)
        hasMore = wokenJobs.length === maxWakeBatch
      }
      return queues
    },

    /** Adopts jobs that processes of the previous release claimed and no longer run. */
    adopt: async (): Promise<void> => void (await run(statements.adopt, [])),

    /** Returns the number of waiting jobs in each queue and the age of the oldest job. */
    readBacklog: (queues: readonly string[]): Promise<Backlog[]> => run(statements.backlog, [queues]),
  }
}

function createAnnouncements() {
  const listeners = new Set<(queue: string) => void>()
  return {
    /** Call this after the enqueuing transaction commits. This process fetches immediately, others at the next poll. */
    announce: (queue: string): void => {
      for (const listener of listeners) listener(queue)
    },
    onEnqueued: (listener: (queue: string) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const toValues = (claims: readonly JobClaim[]): unknown[] => [
  claims.map(({ id }) => id),
  claims.map((claim) => claim.claims),
]

const collectIds = (rows: readonly { id: string }[]): ReadonlySet<string> => new Set(rows.map(({ id }) => id))

/** This comparison matches the database order: both columns have the collation "C" and contain only ASCII. */
function findLastPosition(jobs: readonly FetchedJob[]): Position | null {
  let lastPosition: Position | null = null
  for (const { owner, group } of jobs)
    if (
      lastPosition === null ||
      owner > lastPosition.owner ||
      (owner === lastPosition.owner && group > lastPosition.group)
    )
      lastPosition = { owner, group }
  return lastPosition
}
