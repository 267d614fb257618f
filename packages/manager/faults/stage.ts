// What a row of the programme runs on: engines, backends and replicas of its own, all of them gone when it ends.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Cluster, startCluster } from './cluster.ts'
import { until } from './children.ts'
import { type Replica, startReplica } from './replicas.ts'
import { type Sink, startSink } from './sink.ts'
import { type World, createWorld } from './world.ts'

export type RowOptions = {
  /** Decides which replica is hit, and when. */
  seed: number
  /** How much is fired; each row has its own default. */
  triggers: number | null
  /** How many replicas; for the rows that can be run with any number. */
  processes: number | null
  keep: boolean
}
export type Setup = {
  destinations: number
  replicas: number
  env?: Record<string, string>
  /** How far the clock of each replica is from the machine's. */
  clockShiftsMs?: number[]
}
export type Stage = {
  options: RowOptions
  /** Holds the logs, and what was recorded if something did not hold. */
  folder: string
  cluster: Cluster
  sink: Sink
  world: World
  replicas: Replica[]
  /** Between 0 and 1, the same sequence for the same seed. */
  random: () => number
  /** Progress, for who watches. */
  say: (text: string) => void
  startReplica: () => Promise<Replica>
  /** Ends everything; the logs stay where they are when asked to. */
  close: (keepLogs: boolean) => Promise<void>
}

/** Starts engines, backends and replicas, and registers the backends. */
export async function openStage(setup: Setup, options: RowOptions, say: Stage['say']): Promise<Stage> {
  const folder = mkdtempSync(`${tmpdir()}/manager-faults-`)
  const replicas: Replica[] = []
  const parts: { end(): Promise<void> }[] = []
  const close = async (keepLogs: boolean): Promise<void> => {
    await Promise.all(replicas.map((replica) => replica.end()))
    for (const part of parts.toReversed()) await part.end()
    if (keepLogs) say(`logs, and what was recorded, are in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  try {
    say('starting PostgreSQL and Redis')
    const cluster = await startCluster()
    parts.push({ end: () => cluster.stop() })
    const sink = await startSink(folder, setup.destinations)
    parts.push(sink)
    const startOne = async (): Promise<Replica> => {
      const index = replicas.length
      const { env = {}, clockShiftsMs = [] } = setup
      const replica = await startReplica(cluster, {
        name: `replica-${index + 1}`,
        folder,
        env,
        clockShiftMs: clockShiftsMs[index] ?? 0,
      })
      replicas.push(replica)
      return replica
    }
    say(`starting ${setup.replicas} replicas`)
    for (let count = 0; count < setup.replicas; count++) await startOne()
    say(`registering ${setup.destinations} backends`)
    const world = await createWorld(cluster.sql, sink, () => replicas)
    parts.push({ end: () => Promise.resolve(world.stopHeartbeats()) })
    return {
      options,
      folder,
      cluster,
      sink,
      world,
      replicas,
      random: createRandom(options.seed),
      say,
      startReplica: startOne,
      close,
    }
  } catch (error) {
    await close(true)
    throw error
  }
}

type Drained = { runs: number; ms: number; scheduledUntil?: number }

/** Waits until there are this many runs and none is open; resolves to the seconds it took, or to null after `ms`. */
export async function drain(stage: Stage, { runs, ms, scheduledUntil }: Drained): Promise<number | null> {
  const start = Date.now()
  stage.say(`waiting until ${runs} runs are finished`)
  try {
    await until('the end of all runs', ms, async () => {
      const { rows } = await stage.cluster.sql.query<{ total: number; open: number }>(
        `select count(*)::integer as total, (count(*) filter (where outcome = 'pending'))::integer as open
         from trigger_runs where scheduled_at <= coalesce($1, 'infinity'::timestamptz)`,
        [scheduledUntil === undefined ? null : new Date(scheduledUntil)],
      )
      return rows[0] !== undefined && rows[0].total >= runs && rows[0].open === 0
    })
    return (Date.now() - start) / 1_000
  } catch {
    return null
  }
}

export type ActiveJob = { id: string; started: string; data: string }

/** Attempts that some replica has in its hands. */
export async function readActiveJobs(stage: Stage): Promise<ActiveJob[]> {
  const { rows } = await stage.cluster.sql.query<ActiveJob>(
    `select id, started_on::text as started, data::text as data from jobs.job
     where state = 'active' and name like 'trigger-%'`,
  )
  return rows
}

/** Numbers between 0 and 1 that follow from the seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
