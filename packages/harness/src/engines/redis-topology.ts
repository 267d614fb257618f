// Runs a private Redis Sentinel or Redis Cluster for tests that kill and freeze masters. It takes a few seconds to be
// ready.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { sendRedisCommand, fetchInfo, waitFor } from './redis-ask.ts'
import type { KeptServers } from './redis-keeper.ts'

type Fault = 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'
export type RedisTopology = {
  /** Settings for a service that uses this topology. */
  env: Record<string, string>
  /** Addresses of the sentinels, or of all cluster nodes. */
  addresses: string[]
  /** Ports of the servers. */
  servers: number[]
  /** Returns the port of the master. In a cluster, it is the port of the master that owns the key. */
  master(key?: string): Promise<number>
  signal(port: number, fault: Fault): void
  /** Restarts or resumes a server and waits until every replica follows its master again. */
  heal(port: number): Promise<void>
  stop(): Promise<void>
}

async function keep(mode: 'sentinel' | 'cluster') {
  const keeper = spawn(process.execPath, [new URL('./redis-keeper.ts', import.meta.url).pathname, mode], {
    // The keeper runs in its own session, so that signals that end this process do not reach it.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(keeper, 'exit')
  const lines = createInterface(keeper.stdout)
  const nextLine = async (): Promise<string> => {
    const [line] = (await Promise.race([once(lines, 'line'), ended])) as [unknown]
    if (typeof line !== 'string') throw new Error('the Redis keeper exited before the servers were ready')
    return line
  }
  const kept = JSON.parse(await nextLine()) as KeptServers
  return {
    ...kept,
    signal: (port: number, fault: Fault): void => void process.kill(kept.pids[port] as number, fault),
    revive: async (port: number): Promise<void> => {
      const reply = await sendRedisCommand(port, 'PING')
      if (reply !== null) return
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

const addressOf = (port: number): string => `127.0.0.1:${port}`
const followers = async (servers: readonly number[]): Promise<number> => {
  const states = await Promise.all(servers.map((port) => fetchInfo(port, 'replication')))
  return states.filter((state) => state['role'] === 'slave' && state['master_link_status'] === 'up').length
}

/** Starts a master, two replicas and three sentinels. */
export async function startSentinel(): Promise<RedisTopology> {
  const { servers, sentinels, signal, revive, stop } = await keep('sentinel')
  const addresses = sentinels.map(addressOf)
  return {
    addresses,
    servers,
    env: {
      SVC_REDIS_MODE: 'sentinel',
      SVC_REDIS_URL: `redis://${addresses[0]}`,
      SVC_REDIS_NODES: addresses.slice(1).join(','),
      SVC_REDIS_MASTER_NAME: 'main',
    },
    master: async () => {
      for (const port of sentinels) {
        const named = await sendRedisCommand(port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')
        if (Array.isArray(named)) return Number(named[1])
      }
      throw new Error('no sentinel responds')
    },
    signal,
    heal: async (port) => {
      await revive(port)
      await waitFor('two replicas', async () => (await followers(servers)) === 2)
    },
    stop,
  }
}

/** Starts three masters and a replica for each master. */
export async function startCluster(): Promise<RedisTopology> {
  const { servers, signal, revive, stop } = await keep('cluster')
  const addresses = servers.map(addressOf)
  return {
    addresses,
    servers,
    env: {
      SVC_REDIS_MODE: 'cluster',
      SVC_REDIS_URL: `redis://${addresses[0]}`,
      SVC_REDIS_NODES: addresses.slice(1).join(','),
    },
    master: async (key = '') => {
      for (const port of servers) {
        const slot = Number(await sendRedisCommand(port, 'CLUSTER', 'KEYSLOT', key))
        const slots = await sendRedisCommand(port, 'CLUSTER', 'SLOTS')
        if (!Array.isArray(slots)) continue
        const range = (slots as [number, number, [string, number]][]).find(
          ([first, last]) => first <= slot && slot <= last,
        )
        if (range !== undefined) return range[2][1]
      }
      throw new Error('no node responds')
    },
    signal,
    heal: async (port) => {
      await revive(port)
      await waitFor('three replicas', async () => (await followers(servers)) === 3)
    },
    stop,
  }
}
