// Runs several Redis servers for redis-topology.ts: `redis-keeper.ts sentinel|cluster`. The keeper prints one
// line when the servers are ready. The line `start <port>` on stdin restarts a killed server, and the keeper
// replies with one line. When stdin closes, the keeper kills the servers and removes their data. Stdin closes
// even if the parent is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { ensureRedis } from './install.ts'
import { freePort } from './postgres.ts'
import { sendRedisCommand, fetchInfo, waitFor } from './redis-ask.ts'

export type KeptServers = { pids: Record<number, number>; servers: number[]; sentinels: number[] }

const masterName = 'main'
const program = ensureRedis()
const dir = mkdtempSync(`${tmpdir()}/manager-redis-`)
const running = new Map<number, { args: string[]; child: ChildProcess }>()

async function start(port: number, args: string[]): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore', cwd: dir })
  running.set(port, { args, child })
  await waitFor(`Redis on port ${port}`, async () => (await sendRedisCommand(port, 'PING')) === 'PONG')
}

const freePorts = async (count: number): Promise<number[]> => {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}

async function startServer(port: number, settings: Record<string, string | number>): Promise<void> {
  mkdirSync(`${dir}/${port}`)
  const all = {
    port,
    bind: '127.0.0.1',
    dir: `${dir}/${port}`,
    save: '',
    appendonly: 'no',
    'repl-diskless-sync-delay': 0,
    'repl-ping-replica-period': 1,
    'repl-timeout': 5,
    ...settings,
  }
  await start(
    port,
    Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]),
  )
}

/** Starts a master, two replicas, and three sentinels of which two must agree. */
async function startSentinels(): Promise<Omit<KeptServers, 'pids'>> {
  const [master = 0, ...replicas] = await freePorts(3)
  const sentinels = await freePorts(3)
  await startServer(master, {})
  for (const replica of replicas) await startServer(replica, { replicaof: `127.0.0.1 ${master}` })
  await waitFor(
    'two replicas',
    async () => (await fetchInfo(master, 'replication'))['connected_slaves'] === '2',
  )
  for (const port of sentinels) {
    const file = `${dir}/sentinel-${port}.conf`
    const lines = [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir ${dir}`,
      `sentinel monitor ${masterName} 127.0.0.1 ${master} 2`,
      // A lower value causes failovers on a busy machine.
      `sentinel down-after-milliseconds ${masterName} 2000`,
      `sentinel failover-timeout ${masterName} 10000`,
      `sentinel parallel-syncs ${masterName} 2`,
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
    await start(port, [file, '--sentinel'])
  }
  for (const port of sentinels)
    await waitFor('the sentinels to know each other', async () =>
      /status=ok,.*slaves=2,sentinels=3/.test((await fetchInfo(port, 'sentinel'))['master0'] ?? ''),
    )
  return { servers: [master, ...replicas], sentinels }
}

/** Starts three masters with a third of the slots each, and a replica for each master. */
async function startCluster(): Promise<Omit<KeptServers, 'pids'>> {
  const servers = await freePorts(6)
  const buses = await freePorts(6)
  for (const [n, port] of servers.entries())
    await startServer(port, {
      'cluster-enabled': 'yes',
      'cluster-port': buses[n] as number,
      'cluster-config-file': 'nodes.conf',
      'cluster-node-timeout': 2_000,
      'cluster-replica-validity-factor': 0,
    })
  const [first = 0] = servers
  for (const [n, port] of servers.entries())
    if (n > 0) await sendRedisCommand(first, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(buses[n]))
  for (const port of servers)
    await waitFor('the nodes to meet', async () => {
      const nodes = String(await sendRedisCommand(port, 'CLUSTER', 'NODES'))
        .trim()
        .split('\n')
      return nodes.length === servers.length && !nodes.some((node) => node.includes('handshake'))
    })
  const ends = [0, 5_461, 10_923, 16_384]
  for (const [n, port] of servers.slice(0, 3).entries()) {
    await sendRedisCommand(port, 'CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1))
    const [from, to] = [ends[n], (ends[n + 1] as number) - 1]
    await sendRedisCommand(port, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to))
  }
  for (const [n, port] of servers.slice(3).entries()) {
    const id = String(await sendRedisCommand(servers[n] as number, 'CLUSTER', 'MYID'))
    await waitFor(
      'a replica to know its master',
      async () => (await sendRedisCommand(port, 'CLUSTER', 'REPLICATE', id)) === 'OK',
    )
  }
  await waitFor('the cluster', async () => {
    const states = await Promise.all(servers.map((port) => sendRedisCommand(port, 'CLUSTER', 'INFO')))
    const links = await Promise.all(servers.slice(3).map((port) => fetchInfo(port, 'replication')))
    return (
      states.every((state) => String(state).includes('cluster_state:ok')) &&
      links.every((link) => link['master_link_status'] === 'up')
    )
  })
  return { servers, sentinels: [] }
}

try {
  const kept = await (process.argv[2] === 'cluster' ? startCluster() : startSentinels())
  const pids = Object.fromEntries([...running].map(([port, { child }]) => [port, child.pid as number]))
  process.stdout.write(`${JSON.stringify({ ...kept, pids } satisfies KeptServers)}\n`)
  for await (const line of createInterface(process.stdin)) {
    const port = Number(line.split(' ')[1])
    await start(port, running.get(port)?.args ?? [])
    process.stdout.write(`${running.get(port)?.child.pid}\n`)
  }
} finally {
  for (const { child } of running.values()) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
}
process.exit()
