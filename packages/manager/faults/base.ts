// What every row of the programme runs on: engines and replicas of its own, all of them gone when it ends.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Cluster, startCluster } from './cluster.ts'
import { type Replica, startReplica } from './replicas.ts'
import { type RedisTopology, startSentinel } from '../test/engines/redis-topology.ts'

export type RowOptions = {
  /** Decides which replica is hit, and when. */
  seed: number
  /** How much is fired, sent, and held open; each row has its own defaults. */
  triggers: number | null
  emits: number | null
  sockets: number | null
  sessions: number | null
  /** How many replicas; for the rows that can be run with any number. */
  processes: number | null
  keep: boolean
}
export type BaseSetup = {
  replicas: number
  /** One PostgreSQL, or three by Patroni, replicated synchronously. */
  postgres?: 'single' | 'patroni'
  /** Lets nodes of Patroni be cut off from each other. */
  network?: boolean
  /** The replicas use a master of Redis that Sentinel replaces, instead of a single one. */
  withSentinel?: boolean
  env?: Record<string, string>
  /** How far the clock of each replica is from the machine's. */
  clockShiftsMs?: number[]
  /** How many files each replica may have open; null, or nothing, for as many as usual. */
  openFiles?: (number | null)[]
}
export type Say = (text: string) => void
type Part = { end(): Promise<void> }
export type Base = {
  options: RowOptions
  /** Holds the logs, and what was recorded if something did not hold. */
  folder: string
  cluster: Cluster
  sentinel: RedisTopology | null
  /** Every replica that was started, also those that have ended. */
  replicas: Replica[]
  /** Between 0 and 1, the same sequence for the same seed. */
  random: () => number
  /** Progress, for who watches. */
  say: Say
  startReplica: () => Promise<Replica>
  /** Ends this too, before the engines. */
  ends: <T extends Part>(part: T) => T
  /** Ends everything; the logs stay where they are when asked to. */
  close: (keepLogs: boolean) => Promise<void>
}

/** Starts engines and replicas; whatever else `furnish` starts belongs to the stage as well. */
export async function openBase<S extends object>(
  setup: BaseSetup,
  options: RowOptions,
  say: Say,
  furnish: (base: Base) => Promise<S>,
): Promise<Base & S> {
  const folder = mkdtempSync(`${tmpdir()}/manager-faults-`)
  const replicas: Replica[] = []
  const parts: Part[] = []
  const close = async (keepLogs: boolean): Promise<void> => {
    await Promise.all(replicas.map((replica) => replica.end()))
    for (const part of parts.toReversed()) await part.end()
    if (keepLogs) say(`logs, and what was recorded, are in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  const ends = <T extends Part>(part: T): T => {
    parts.push(part)
    return part
  }
  try {
    say('starting PostgreSQL and Redis')
    const { postgres = 'single', network = false } = setup
    const cluster = await startCluster({ postgres, network, logFolder: folder })
    ends({ end: () => cluster.stop() })
    const sentinel = setup.withSentinel === true ? await startSentinel() : null
    ends({ end: () => sentinel?.stop() ?? Promise.resolve() })
    const startOne = async (): Promise<Replica> => {
      const index = replicas.length
      const { env = {}, clockShiftsMs = [], openFiles = [] } = setup
      const replica = await startReplica(cluster, {
        name: `replica-${index + 1}`,
        folder,
        env: { ...env, ...sentinel?.env },
        clockShiftMs: clockShiftsMs[index] ?? 0,
        openFiles: openFiles[index] ?? null,
      })
      replicas.push(replica)
      return replica
    }
    say(`starting ${setup.replicas} replicas`)
    for (let count = 0; count < setup.replicas; count++) await startOne()
    const random = createRandom(options.seed)
    const base = {
      options,
      folder,
      cluster,
      sentinel,
      replicas,
      random,
      say,
      startReplica: startOne,
      ends,
      close,
    }
    return { ...base, ...(await furnish(base)) }
  } catch (error) {
    await close(true)
    throw error
  }
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
