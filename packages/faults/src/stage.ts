// Sets up a trigger scenario: PostgreSQL, Redis, replicas and registered backends.
import { type Base, type BaseSetup, type RowOptions, type Log, openBase } from './base.ts'
import { waitQuietly } from './quiet.ts'
import { type Sink, startSink } from './sink.ts'
import { type World, createWorld } from './world.ts'

export type Setup = BaseSetup & { destinations: number }
export type Stage = Base & { sink: Sink; world: World }

/** Starts PostgreSQL, Redis, replicas and backends, and registers the backends. */
export const openStage = (setup: Setup, options: RowOptions, log: Log): Promise<Stage> =>
  openBase(setup, options, log, async ({ folder, cluster, replicas, registerPart }) => {
    const sink = registerPart(await startSink(folder, setup.destinations))
    log(`registering ${setup.destinations} backends`)
    const world = await createWorld(cluster.sql, sink, () => replicas)
    registerPart({ end: () => Promise.resolve(world.stopHeartbeats()) })
    return { sink, world }
  })

type Drained = { runs: number; ms: number; scheduledUntil?: number }

/**
 * Waits until there are at least `runs` runs and none of them is pending. Resolves to the elapsed seconds, or to null
 * after `ms`.
 */
export const drain = (stage: Stage, { runs, ms, scheduledUntil }: Drained): Promise<number | null> =>
  waitQuietly(stage, {
    what: `${runs} runs to finish`,
    ms,
    holds: async () => {
      const { rows } = await stage.cluster.sql.query<{ total: number; open: number }>(
        `select count(*)::integer as total, (count(*) filter (where outcome = 'pending'))::integer as open
         from trigger_runs where scheduled_at <= coalesce($1, 'infinity'::timestamptz)`,
        [scheduledUntil === undefined ? null : new Date(scheduledUntil)],
      )
      return rows[0] !== undefined && rows[0].total >= runs && rows[0].open === 0
    },
  })

export type ActiveJob = { id: string; claims: number; data: string }

/** Reads the attempts that any replica has claimed. */
export async function readActiveJobs(stage: Stage): Promise<ActiveJob[]> {
  const { rows } = await stage.cluster.sql.query<ActiveJob>(
    `select id, claims, data::text as data from queued_jobs where is_held and queue like 'trigger-%'`,
  )
  return rows
}
