// Redis with Sentinel, and Redis Cluster, of one's own: for tests that kill and freeze masters. Ready after a few seconds.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { askRedis, infoOf, waitFor } from './redis-ask.ts'
import type { KeptServers } from './redis-keeper.ts'

type Fault = 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'
export type RedisTopology = {
  /** The settings of a service that uses it. */
  env: Record<string, string>
  /** Places of the sentinels, or of all nodes of the cluster. */
  places: string[]
  /** Ports of the servers. */
  servers: number[]
  /** The port of the master, of a cluster that of the key. */
  master(key?: string): Promise<number>
  signal(port: number, fault: Fault): void
  /** Brings a server back that was killed or stopped, and waits until all are masters or follow one. */
  heal(port: number): Promise<void>
  stop(): Promise<void>
}

async function keep(mode: 'sentinel' | 'cluster') {
  const keeper = spawn(process.execPath, [new URL('./redis-keeper.ts', import.meta.url).pathname, mode], {
    // Its own session: what ends this process, by whatever signal, does not end the keeper.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(keeper, 'exit')
  const lines = createInterface(keeper.stdout)
  const nextLine = async (): Promise<string> => {
    const [line] = (await Promise.race([once(lines, 'line'), ended])) as [unknown]
    if (typeof line !== 'string') throw new Error('the Redis servers could not be started')
    return line
  }
  const kept = JSON.parse(await nextLine()) as KeptServers
  return {
    ...kept,
    signal: (port: number, fault: Fault): void => void process.kill(kept.pids[port] as number, fault),
    revive: async (port: number): Promise<void> => {
      const isThere = await askRedis(port, 'PING')
      if (isThere !== null) return
      try {
        process.kill(kept.pids[port] as number, 'SIGCONT')
      } catch {
        keeper.stdin.write(`start ${port}\n`)
        kept.pids[port] = Number(await nextLine())
      }
    },
    stop: async (): Promise<void> => {
      keeper.stdin.end()
      await ended
    },
  }
}

const placeOf = (port: number): string => `127.0.0.1:${port}`
const followers = async (servers: readonly number[]): Promise<number> => {
  const states = await Promise.all(servers.map((port) => infoOf(port, 'replication')))
  return states.filter((state) => state['role'] === 'slave' && state['master_link_status'] === 'up').length
}

/** A master, two replicas, three sentinels. */
export async function startSentinel(): Promise<RedisTopology> {
  const { servers, sentinels, signal, revive, stop } = await keep('sentinel')
  const places = sentinels.map(placeOf)
  return {
    places,
    servers,
    env: {
      SVC_REDIS_MODE: 'sentinel',
      SVC_REDIS_URL: `redis://${places[0]}`,
      SVC_REDIS_NODES: places.slice(1).join(','),
      SVC_REDIS_MASTER_NAME: 'main',
    },
    master: async () => {
      for (const port of sentinels) {
        const named = await askRedis(port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')
        if (Array.isArray(named)) return Number(named[1])
      }
      throw new Error('no sentinel answers')
    },
    signal,
    heal: async (port) => {
      await revive(port)
      await waitFor('two replicas', async () => (await followers(servers)) === 2)
    },
    stop,
  }
}

/** Three masters and a replica for each. */
export async function startCluster(): Promise<RedisTopology> {
  const { servers, signal, revive, stop } = await keep('cluster')
  const places = servers.map(placeOf)
  return {
    places,
    servers,
    env: {
      SVC_REDIS_MODE: 'cluster',
      SVC_REDIS_URL: `redis://${places[0]}`,
      SVC_REDIS_NODES: places.slice(1).join(','),
    },
    master: async (key = '') => {
      for (const port of servers) {
        const slot = Number(await askRedis(port, 'CLUSTER', 'KEYSLOT', key))
        const slots = await askRedis(port, 'CLUSTER', 'SLOTS')
        if (!Array.isArray(slots)) continue
        const range = (slots as [number, number, [string, number]][]).find(
          ([first, last]) => first <= slot && slot <= last,
        )
        if (range !== undefined) return range[2][1]
      }
      throw new Error('no node answers')
    },
    signal,
    heal: async (port) => {
      await revive(port)
      await waitFor('three replicas', async () => (await followers(servers)) === 3)
    },
    stop,
  }
}
