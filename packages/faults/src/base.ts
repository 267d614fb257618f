// Sets up a fault scenario: its own PostgreSQL and Redis servers, and its own replicas. Everything is stopped
// when the scenario ends.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Cluster, startCluster } from './cluster.ts'
import { type Links, openLinks, throughLinks } from './links.ts'
import { createRandom } from './random.ts'
import { type Replica, type ReplicaOptions, startReplica } from './replicas.ts'
import { type RedisTopology, startSentinel } from '@manager/harness/engines/redis-topology.ts'

export type RowOptions = {
  /** Determines which replica a fault affects, and when the fault occurs. */
  seed: number
  /** Determines the size and duration of a scenario. The numbers below take precedence over it. */
  size: 'full' | 'short'
  /** The numbers of triggers, emits, sockets and sessions. Null selects the default of the scenario. */
  triggers: number | null
  emits: number | null
  sockets: number | null
  sessions: number | null
  /** Number of replicas, for scenarios that support any number. */
  processes: number | null
  /** Duration of a soak test. */
  minutes: number | null
  keep: boolean
}
/** Leaves every number at the default of the scenario. */
export const ownNumbers = {
  triggers: null,
  emits: null,
  sockets: null,
  sessions: null,
  processes: null,
  minutes: null,
} satisfies Partial<RowOptions>
export type BaseSetup = {
  replicas: number
  /** A single PostgreSQL server, or three nodes with Patroni and synchronous replication. */
  postgres?: 'single' | 'patroni'
  /** Allows Patroni nodes to be partitioned from each other. */
  network?: boolean
  /** The replicas use Redis with Sentinel failover instead of a single server. */
  withSentinel?: boolean
  /** Each replica connects to PostgreSQL, and to a single Redis server, through links that can be broken. */
  withFaultProxies?: boolean
  /** Stores the data of a single PostgreSQL server on a separate small file system, which can be filled. */
  smallDisk?: boolean
  env?: Record<string, string>
  /** Offset of each replica's clock from the clock of the machine. */
  clockShiftsMs?: number[]
  /** Limit of open files for each replica. Null or a missing entry keeps the default. */
  openFiles?: (number | null)[]
}
export type Log = (text: string) => void
type Part = { end(): Promise<void> }
export type Base = {
  options: RowOptions
  /** Contains the logs and, if a bound was violated, the record. */
  folder: string
  cluster: Cluster
  sentinel: RedisTopology | null
  /** All replicas that were started, including those that have stopped. */
  replicas: Replica[]
  /** The links of each replica, in the order of `replicas`. Empty without fault proxies. */
  links: Links[]
  /**
   * Returns random numbers between 0 and 1. The same seed yields the same sequence. Only the load generator uses these
   * numbers, because faults are scheduled in advance.
   */
  random: () => number
  /** Prints progress. */
  log: Log
  /** Starts another replica. `env` overrides the common settings. Several replicas can start concurrently. */
  startReplica: (env?: Record<string, string>) => Promise<Replica>
  /** Registers a component that must be stopped before PostgreSQL and Redis. */
  registerPart: <T extends Part>(part: T) => T
  /** Stops everything and removes the folder, unless `keepLogs` is true. */
  close: (keepLogs: boolean) => Promise<void>
}

/** Starts PostgreSQL, Redis and the replicas. Adds all properties that `extend` returns to the stage. */
export async function openBase<S extends object>(
  setup: BaseSetup,
  options: RowOptions,
  log: Log,
  extend: (base: Base) => Promise<S>,
): Promise<Base & S> {
  const folder = mkdtempSync(`${tmpdir()}/manager-faults-`)
  const replicas: Replica[] = []
  const links: Links[] = []
  const parts: Part[] = []
  const close = async (keepLogs: boolean): Promise<void> => {
    await Promise.all(replicas.map((replica) => replica.end()))
    for (const part of parts.toReversed()) await part.end()
    if (keepLogs) log(`logs and record: ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  const registerPart = <T extends Part>(part: T): T => {
    parts.push(part)
    return part
  }
  try {
    log('starting PostgreSQL and Redis')
    const { postgres = 'single', network = false, smallDisk = false } = setup
    const cluster = await startCluster({ postgres, network, smallDisk, logFolder: folder })
    registerPart({ end: () => cluster.stop() })
    const sentinel = setup.withSentinel === true ? await startSentinel() : null
    registerPart({ end: () => sentinel?.stop() ?? Promise.resolve() })
    let count = 0
    const startOne = async (ownEnv: Record<string, string> = {}): Promise<Replica> => {
      const link =
        setup.withFaultProxies === true ? await openLinks(cluster, folder, sentinel === null) : null
      for (const proxy of [link?.postgres ?? null, link?.redis ?? null])
        if (proxy !== null) registerPart(proxy)
      const urls = link === null ? cluster : throughLinks(link, cluster)
      const own = { ...setup, env: { ...setup.env, ...ownEnv } }
      const replica = await startReplica(urls, replicaOptions(own, folder, count++, sentinel))
      replicas.push(replica)
      if (link !== null) links.push(link)
      return replica
    }
    log(`starting ${setup.replicas} replicas`)
    while (replicas.length < setup.replicas) await startOne()
    const random = createRandom(options.seed)
    const started = { options, folder, cluster, sentinel, replicas, links }
    const base = { ...started, random, log, startReplica: startOne, registerPart, close }
    return { ...base, ...(await extend(base)) }
  } catch (error) {
    await close(true)
    throw error
  }
}

function replicaOptions(
  { env = {}, clockShiftsMs = [], openFiles = [] }: BaseSetup,
  folder: string,
  index: number,
  sentinel: RedisTopology | null,
): ReplicaOptions {
  return {
    name: `replica-${index + 1}`,
    folder,
    env: { ...env, ...sentinel?.env },
    clockShiftMs: clockShiftsMs[index] ?? 0,
    openFiles: openFiles[index] ?? null,
  }
}
