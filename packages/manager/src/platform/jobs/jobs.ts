// Durable jobs: work that must not be lost. The transaction that causes a job enqueues it, so a job exists exactly when its
// cause is committed. A fetch hides the job for the length of a lease; a process that is lost stops extending it, and the
// job is fetched by another. All times are the database's.
import { CompiledQuery } from 'kysely'
import type { Tx } from '../postgres/handles.ts'
import type { Run } from '../postgres/prepared.ts'
import * as statements from './statements.ts'

export type NewJob<Data extends object = object> = {
  data: Data
  delayMs?: number
  /** Owners have fair shares of the jobs that a process works on. */
  owner: string
  /** Jobs of a group have a limit over all processes. */
  group: string
}
/** A fetched job, and the number of times it has been fetched. A later fetch invalidates this claim. */
export type JobClaim = { id: string; claims: number }
export type FetchedJob<Data = unknown> = JobClaim & { data: Data; owner: string; group: string }
/** The group after which a fetch starts. */
export type Position = { owner: string; group: string }
export type Wanted = {
  count: number
  /** Jobs of one group that all processes together work on, or a few more if they fetch at the same moment. */
  maxPerGroup: number
  /** Jobs that this fetch takes from one group; any number by default. */
  maxPerVisit?: number
  withoutOwners?: readonly string[]
  /** Null starts with the first group. */
  after?: Position | null
}
type Fetched = {
  jobs: FetchedJob[]
  /** Null when the last group was visited. */
  next: Position | null
}
type Backlog = { queue: string; waiting: number; oldestSeconds: number }
export type Jobs = ReturnType<typeof createJobs>

const maxWoken = 1_000

/** `run` runs the statements that no transaction is given for. */
export function createJobs({ run }: { run: Run }) {
  /** Claims whose end is under way: a touch that does not find them has not lost them. */
  const ending = new WeakSet<JobClaim>()

  return {
    ...createAnnouncements(),

    /** Adds jobs in the transaction, by one statement. */
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

    /** Deletes jobs that are done; returns the ids of those whose claim is valid. */
    finish: async (claims: readonly JobClaim[], tx?: Tx): Promise<ReadonlySet<string>> => {
      if (claims.length === 0) return new Set()
      for (const claim of claims) ending.add(claim)
      if (tx === undefined) return idsOf(await run(statements.finish, valuesOf(claims)))
      const query = CompiledQuery.raw(statements.finish.text, valuesOf(claims))
      return idsOf((await tx.executeQuery<{ id: string }>(query)).rows)
    },

    /** Claims jobs that wait, group by group. Costs the groups it visits, not the jobs that wait or are held. */
    fetch: async (queue: string, wanted: Wanted): Promise<Fetched> => {
      const { count, maxPerGroup, maxPerVisit = count, withoutOwners = [], after = null } = wanted
      const { owner, group } = after ?? { owner: '', group: '' }
      const values = [queue, count, maxPerGroup, withoutOwners, owner, group, maxPerVisit]
      const rows = await run<FetchedJob | (Position & { id: null })>(statements.fetch, values)
      const jobs = rows.filter((row) => row.id !== null)
      const stop = rows.find((row) => row.id === null) ?? null
      return { jobs, next: jobs.length < count ? stop : lastOf(jobs) }
    },

    isEnding: (claim: JobClaim): boolean => ending.has(claim),

    /** Extends the leases of the claims; returns the ids of those that are valid. */
    touch: async (claims: readonly JobClaim[]): Promise<ReadonlySet<string>> =>
      idsOf(await run(statements.touch, valuesOf(claims))),

    /** Gives jobs back, to be fetched again after the delay or up to twice as long. */
    putBack: async (claims: readonly JobClaim[], delayMs = 0): Promise<void> => {
      if (claims.length > 0) await run(statements.putBack, [...valuesOf(claims), delayMs])
    },

    /** Makes jobs available whose lease has expired or whose time has come; returns their queues. */
    wake: async (): Promise<ReadonlySet<string>> => {
      const queues = new Set<string>()
      for (let isMore = true; isMore;) {
        const woken = await run<{ queue: string }>(statements.wake, [maxWoken])
        for (const { queue } of woken) queues.add(queue)
        isMore = woken.length === maxWoken
      }
      return queues
    },

    /** Takes over jobs of the previous release that no process of it works on. */
    adopt: async (): Promise<void> => void (await run(statements.adopt, [])),

    /** The jobs that wait in each queue, and how long the oldest has waited. */
    readBacklog: (queues: readonly string[]): Promise<Backlog[]> => run(statements.backlog, [queues]),
  }
}

function createAnnouncements() {
  const listeners = new Set<(queue: string) => void>()
  return {
    /** Call it when the transaction that enqueued is committed: this process then fetches immediately, others at their next poll. */
    announce: (queue: string): void => {
      for (const listener of listeners) listener(queue)
    },
    onEnqueued: (listener: (queue: string) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const valuesOf = (claims: readonly JobClaim[]): unknown[] => [
  claims.map(({ id }) => id),
  claims.map((claim) => claim.claims),
]

const idsOf = (rows: readonly { id: string }[]): ReadonlySet<string> => new Set(rows.map(({ id }) => id))

/** Both columns have the collation "C"; the ids in them are ASCII. */
function lastOf(jobs: readonly FetchedJob[]): Position | null {
  let last: Position | null = null
  for (const { owner, group } of jobs)
    if (last === null || owner > last.owner || (owner === last.owner && group > last.group))
      last = { owner, group }
  return last
}
