// Durable jobs: work that must not be lost. A job is put into the queue by the transaction that causes it, so it exists
// exactly when its cause is committed. pg-boss keeps and hands out jobs; its tables come with our migrations, and the
// service's role changes rows in them and nothing else.
import type { Pool } from 'pg'
import { PgBoss, type FetchOptions, type Db as BossDb, type JobInsert, fromKysely } from 'pg-boss'
import type { Db, Tx } from '../db/database.ts'
import type { Logger } from '../log/log.ts'

export type NewJob<Data extends object = object> = {
  data: Data
  /** How long it waits, by the database's clock. */
  delayMs?: number
  /** Jobs of a group share a limit. Its name begins with its owner and a slash; owners have a limit too. */
  group?: string
}
/** What a process has fetched: the job, and the how manieth time it is handed out. A later time ends this one's rights. */
export type JobClaim = { id: string; retryCount: number }
export type FetchedJob<Data = unknown> = JobClaim & { data: Data; group: string | null }
export type Wanted = {
  count: number
  /** Jobs of one group that all processes together work on at once; null for any number. */
  maxPerGroup: number | null
  withoutGroups?: readonly string[]
}

export type Jobs = ReturnType<typeof createJobs>

const schema = 'jobs'
/** How often lost claims are looked for; by one of all processes. */
export const superviseSeconds = 3
const putOffSql = `
  update jobs.job_common j set state = case when j.retry_count > 0 then 'retry' else 'created' end::jobs.job_state,
    started_on = null, heartbeat_on = null, start_after = now() + make_interval(secs => $4 / 1000.0 * (1 + random()))
  from unnest($2::uuid[], $3::integer[]) as w (id, retry_count)
  where j.name = $1 and j.id = w.id and j.retry_count = w.retry_count and j.state = 'active'`
const statsSql = `
  select q.name, q.ready_count as waiting, coalesce(extract(epoch from now() - (
    select greatest(j.created_on, j.start_after) from jobs.job_common j
    where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= now()
    order by j.priority desc, j.created_on limit 1
  )), 0)::float8 as "oldestSeconds"
  from jobs.queue q where q.name = any($1::text[])`

/** pg-boss with its own timers off: everything it does is asked for here. */
function createBoss(db: BossDb, log: Logger): () => Promise<PgBoss> {
  const boss = new PgBoss({
    db,
    schema,
    migrate: false,
    createSchema: false,
    schedule: false,
    supervise: false,
    monitorIntervalSeconds: superviseSeconds,
    // Rebuilding indexes is the owner's, which the service's role is not.
    reindex: false,
  })
  boss.on('error', (error) => log.error({ err: error }, 'job queue failed'))
  boss.on('warning', ({ message }) => log.warn({ warning: message }, 'job queue warns'))
  let starting: Promise<PgBoss> | null = null
  return () => {
    starting ??= boss.start().catch((error: unknown) => {
      // The next use tries again.
      starting = null
      throw error
    })
    return starting
  }
}

/** Connects with the first use. Every statement runs on the pool, or in the transaction that is given. */
export function createJobs({ pool, log }: { pool: Pool; log: Logger }) {
  const start = createBoss({ executeSql: (text, values) => pool.query(text, values) }, log)
  let isUsed = false
  const started = (): Promise<PgBoss> => {
    isUsed = true
    return start()
  }
  /** Claims whose end is under way: that a touch finds them gone does not mean they are lost. */
  const ending = new WeakSet<JobClaim>()

  return {
    ...createAnnouncements(),

    /** Throws when the tables are of another release of pg-boss. */
    ready: async (): Promise<void> => void (await started()),

    /** Adds jobs as a part of the transaction; one statement for all of them. */
    enqueue: async (tx: Tx, queue: string, jobs: readonly NewJob[]): Promise<void> => {
      if (jobs.length === 0) return
      await (await started()).insert(queue, jobs.map(insertOf), inside(tx))
    },

    /** Removes jobs that are done; returns the ids of those whose claim still held. The others are somebody else's. */
    finish: async (
      queue: string,
      claims: readonly JobClaim[],
      tx?: Db | Tx,
    ): Promise<ReadonlySet<string>> => {
      if (claims.length === 0) return new Set()
      for (const claim of claims) ending.add(claim)
      return settledOf(await (await started()).deleteJob(queue, [...claims], inside(tx)))
    },

    /** Claims jobs that are due; costs what is claimed, and what waits before it in groups that are full. */
    fetch: async (
      queue: string,
      { count, maxPerGroup, withoutGroups = [] }: Wanted,
    ): Promise<FetchedJob[]> => {
      const options: FetchOptions = { batchSize: count, ignoreGroups: [...withoutGroups] }
      if (maxPerGroup !== null) options.groupConcurrency = maxPerGroup
      const jobs = await (await started()).fetch(queue, options)
      return jobs.map(({ id, retryCount, data, groupId }) => ({
        id,
        retryCount,
        data,
        group: groupId ?? null,
      }))
    },

    isEnding: (claim: JobClaim): boolean => ending.has(claim),

    /** Says that the claims are still worked on; returns the ids of those that still hold. */
    touch: async (queue: string, claims: readonly JobClaim[]): Promise<ReadonlySet<string>> =>
      settledOf(await (await started()).touch(queue, [...claims])),

    /** Gives jobs back, to be handed out again soon. */
    giveBack: async (queue: string, claims: readonly JobClaim[]): Promise<void> => {
      if (claims.length > 0) await (await started()).fail(queue, [...claims])
    },

    /** Hands jobs out again later that were not begun: it is as if they had not been fetched. */
    putOff: (queue: string, claims: readonly JobClaim[], delayMs: number) =>
      putOff(pool, queue, claims, delayMs),

    /** Gives back the jobs of processes that have said nothing for ten seconds, and counts what waits. */
    supervise: async (): Promise<void> => (await started()).supervise(),

    /** What waits in each queue, as of the last count, and for how long. */
    readBacklog: (queues: readonly string[]) => readBacklog(pool, queues),

    close: async (): Promise<void> => {
      if (isUsed) await (await start()).stop({ close: false, graceful: false })
    },
  }
}

async function putOff(
  pool: Pool,
  queue: string,
  claims: readonly JobClaim[],
  delayMs: number,
): Promise<void> {
  const [ids, counts] = [claims.map(({ id }) => id), claims.map(({ retryCount }) => retryCount)]
  await pool.query(putOffSql, [queue, ids, counts, delayMs])
}

function createAnnouncements() {
  const listeners = new Set<(queue: string) => void>()
  return {
    /** Call it once the transaction that enqueued is committed: this process then looks at once, others within a poll. */
    announce: (queue: string): void => {
      for (const listener of listeners) listener(queue)
    },
    onEnqueued: (listener: (queue: string) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

async function readBacklog(pool: Pool, queues: readonly string[]) {
  const { rows } = await pool.query<{ name: string; waiting: number; oldestSeconds: number }>(statsSql, [
    queues,
  ])
  return rows
}

const insertOf = ({ data, delayMs, group }: NewJob): JobInsert => ({
  data,
  ...(delayMs === undefined ? {} : { startAfter: `${delayMs} milliseconds` }),
  ...(group === undefined ? {} : { group: { id: group } }),
})

const settledOf = ({ settled }: { settled?: string[] | null }): ReadonlySet<string> => new Set(settled ?? [])

const inside = (db: Db | Tx | undefined): { db?: BossDb } => (db === undefined ? {} : { db: adapt(db) })

/** Statements of pg-boss keep their own column names. */
const adapt = (db: Db | Tx): BossDb => fromKysely(db.withoutPlugins())
