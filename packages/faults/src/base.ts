// What every row of the programme runs on: engines and replicas of its own, all of them gone when it ends.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Cluster, startCluster } from './cluster.ts'
import { type Links, openLinks, throughLinks } from './links.ts'
import { createRandom } from './random.ts'
import { type Replica, type ReplicaOptions, startReplica } from './replicas.ts'
import { type RedisTopology, startSentinel } from '@manager/harness/engines/redis-topology.ts'

export type RowOptions = {
  /** Decides which replica is hit, and when. */
  seed: number
  /** How large and long rows are; numbers that are given below go before it. */
  size: 'full' | 'short'
  /** How much is fired, sent, and held open; each row has its own defaults. */
  triggers: number | null
  emits: number | null
  sockets: number | null
  sessions: number | null
  /** How many replicas; for the rows that can be run with any number. */
  processes: number | null
  /** How long a soak takes. */
  minutes: number | null
  keep: boolean
}
/** Every row with its own numbers. */
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
  /** One PostgreSQL, or three by Patroni, replicated synchronously. */
  postgres?: 'single' | 'patroni'
  /** Lets nodes of Patroni be cut off from each other. */
  network?: boolean
  /** The replicas use a master of Redis that Sentinel replaces, instead of a single one. */
  withSentinel?: boolean
  /** Each replica reaches PostgreSQL, and Redis if it is a single one, through a link that can be broken. */
  withFaultProxies?: boolean
  /** The data of a single PostgreSQL is on a small file system of its own, which can be filled. */
  smallDisk?: boolean
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
  /** Those of each replica, in the same order; empty without fault proxies. */
  links: Links[]
  /** Between 0 and 1, the same sequence for the same seed; for the load, since faults have a schedule. */
  random: () => number
  /** Progress, for who watches. */
  say: Say
  /** One more, with these settings instead of the others'; several may start at once. */
  startReplica: (env?: Record<string, string>) => Promise<Replica>
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
  const links: Links[] = []
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
    const { postgres = 'single', network = false, smallDisk = false } = setup
    const cluster = await startCluster({ postgres, network, smallDisk, logFolder: folder })
    ends({ end: () => cluster.stop() })
    const sentinel = setup.withSentinel === true ? await startSentinel() : null
    ends({ end: () => sentinel?.stop() ?? Promise.resolve() })
    let count = 0
    const startOne = async (ownEnv: Record<string, string> = {}): Promise<Replica> => {
      const link =
        setup.withFaultProxies === true ? await openLinks(cluster, folder, sentinel === null) : null
      for (const proxy of [link?.postgres ?? null, link?.redis ?? null]) if (proxy !== null) ends(proxy)
      const urls = link === null ? cluster : throughLinks(link, cluster)
      const own = { ...setup, env: { ...setup.env, ...ownEnv } }
      const replica = await startReplica(urls, replicaOptions(own, folder, count++, sentinel))
      replicas.push(replica)
      if (link !== null) links.push(link)
      return replica
    }
    say(`starting ${setup.replicas} replicas`)
    while (replicas.length < setup.replicas) await startOne()
    const random = createRandom(options.seed)
    const started = { options, folder, cluster, sentinel, replicas, links }
    const base = { ...started, random, say, startReplica: startOne, ends, close }
    return { ...base, ...(await furnish(base)) }
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
