// A private highly available PostgreSQL cluster: three Patroni nodes with synchronous replication, and a
// read-write port.
import { Client } from 'pg'
import { pause, until } from '../children.ts'
import { type Keeper, startKeeper } from './keeper-client.ts'
import type { KeeperReply, KeptCluster } from './patroni-keeper.ts'
import type { Node } from './patroni-config.ts'

/**
 * A leader fault. `kill` kills Patroni and PostgreSQL together, `kill-postgres` only the postmaster. `freeze`
 * stops Patroni, `freeze-all` also the postmaster and its children. `partition` drops all packets of the
 * node. `partition-peers` drops only packets between the nodes, so that clients still reach the node.
 */
export type PatroniFault =
  'kill' | 'kill-postgres' | 'freeze' | 'freeze-all' | 'switchover' | 'partition' | 'partition-peers'
/** A node and the time of the event. */
type LeaderEvent = { node: number; at: number }
export type PatroniCluster = {
  /** Connects as superuser through the read-write port. */
  adminUrl: string
  dir: string
  /** Resolves to the number of the leader, from 1 to 3. Throws if no node is the leader. */
  leader(): Promise<number>
  /** Applies the fault to the leader and resolves as soon as it is in effect. */
  applyFault(fault: PatroniFault): Promise<LeaderEvent>
  /**
   * Resolves when a different node is the leader or, after `kill-postgres`, the same node with a new
   * postmaster.
   */
  newLeader(previous: number): Promise<LeaderEvent>
  /**
   * Undoes every fault and waits until the cluster is healthy: one leader and two streaming standbys, one of
   * which is synchronous.
   */
  heal(): Promise<void>
  stop(): Promise<void>
}
export type PatroniOptions = {
  /** Creates a network namespace for each node. Partitions require it. */
  network?: boolean
  /** Folder for the logs of all programs. Without it, the logs are discarded. */
  logFolder?: string
}
type Status = {
  postmaster_start_time?: string
  replication?: { state: string; sync_state: string }[]
}

const keeperFile = new URL('patroni-keeper.ts', import.meta.url).pathname
const startMs = 120_000
const electionMs = 90_000
const healMs = 180_000
const restMs = 2_000

const ask = (node: Node, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://${node.host}:${node.rest}/${path}`, { signal: AbortSignal.timeout(restMs), ...init })

/** Returns whether the node reports this role. */
async function hasRole(node: Node, role: 'primary' | 'sync'): Promise<boolean> {
  try {
    const response = await ask(node, role)
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}

/** Returns the nodes that report this role. Nodes that do not respond are excluded. */
async function nodesWithRole(nodes: readonly Node[], role: 'primary' | 'sync'): Promise<Node[]> {
  const results = await Promise.all(nodes.map((node) => hasRole(node, role)))
  return nodes.filter((_, index) => results[index] === true)
}

const statusOf = async (node: Node): Promise<Status> => (await ask(node, 'patroni')).json() as Promise<Status>

/** The replication state is checked too, because a node may still report its previous role right after a fault. */
async function isHealthy(nodes: readonly Node[]): Promise<boolean> {
  const [leader, ...others] = await nodesWithRole(nodes, 'primary')
  if (leader === undefined || others.length > 0) return false
  const { replication = [] } = await statusOf(leader)
  const streaming = replication.filter(({ state }) => state === 'streaming')
  const synchronous = await nodesWithRole(nodes, 'sync')
  return (
    streaming.length === nodes.length - 1 &&
    streaming.some(({ sync_state }) => sync_state === 'sync') &&
    synchronous.length === 1 &&
    synchronous[0] !== leader
  )
}

async function canWrite(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid')
    return rows.length === 1
  } finally {
    client.end().catch(() => undefined)
  }
}

/** State of the last fault, which `awaitLeader` needs. */
type LastFault = { postmasterStart: string | null; rejection: string | null }

async function findLeader(nodes: readonly Node[]): Promise<Node> {
  const [leader] = await nodesWithRole(nodes, 'primary')
  if (leader === undefined) throw new Error('no node is the leader')
  return leader
}

/** Requests a switchover. Patroni responds only after the switchover is complete, so only a rejection is recorded. */
async function switchOver(leader: Node, lastFault: LastFault): Promise<void> {
  const body = JSON.stringify({ leader: `node${leader.number}` })
  try {
    const signal = AbortSignal.timeout(electionMs)
    const response = await ask(leader, 'switchover', { method: 'POST', body, signal })
    const text = await response.text()
    if (!response.ok) lastFault.rejection = `switchover: ${response.status} ${text}`
  } catch (error) {
    lastFault.rejection = `switchover: ${String(error)}`
  }
}

async function sendToKeeper(keeper: Keeper, line: string): Promise<number> {
  const reply = JSON.parse(await keeper.send(line)) as KeeperReply
  if ('error' in reply) throw new Error(`${line}: ${reply.error}`)
  return reply.at
}

async function awaitLeader(
  nodes: readonly Node[],
  previous: number,
  lastFault: LastFault,
): Promise<LeaderEvent> {
  const others = nodes.filter(({ number }) => number !== previous)
  const same = nodes.find(({ number }) => number === previous)
  for (const end = Date.now() + electionMs; Date.now() < end;) {
    const [found] = await nodesWithRole(others, 'primary')
    if (found !== undefined) return { node: found.number, at: Date.now() }
    if (lastFault.rejection !== null) throw new Error(lastFault.rejection)
    if (lastFault.postmasterStart !== null && same !== undefined && (await hasRole(same, 'primary'))) {
      const { postmaster_start_time: started } = await statusOf(same).catch((): Status => ({}))
      if (started !== undefined && started !== lastFault.postmasterStart)
        return { node: previous, at: Date.now() }
    }
    await pause(50)
  }
  throw new Error(`no new leader within ${electionMs / 1_000} s`)
}

/** Starts an empty cluster and waits until it is healthy and accepts writes. */
export async function startPatroni(options: PatroniOptions = {}): Promise<PatroniCluster> {
  const { network = false, logFolder = '' } = options
  const keeper = startKeeper(keeperFile, [logFolder, network ? 'network' : 'loopback'])
  const { dir, nodes, readWritePort } = JSON.parse(await keeper.nextLine()) as KeptCluster
  const adminUrl = `postgres://postgres@127.0.0.1:${readWritePort}/postgres`
  const waitUntilHealthy = (ms: number): Promise<void> =>
    until('a healthy PostgreSQL cluster', ms, () => isHealthy(nodes))
  try {
    await waitUntilHealthy(startMs)
    await until('the read-write port', startMs, () => canWrite(adminUrl))
  } catch (error) {
    await keeper.end()
    throw error
  }
  let lastFault: LastFault = { postmasterStart: null, rejection: null }
  return {
    adminUrl,
    dir,
    leader: async () => (await findLeader(nodes)).number,
    applyFault: async (fault) => {
      const leader = await findLeader(nodes)
      const node = leader.number
      lastFault = { postmasterStart: null, rejection: null }
      if (fault === 'kill-postgres')
        lastFault.postmasterStart = (await statusOf(leader)).postmaster_start_time ?? null
      if (fault !== 'switchover') return { node, at: await sendToKeeper(keeper, `${fault} ${node}`) }
      const at = Date.now()
      void switchOver(leader, lastFault)
      return { node, at }
    },
    newLeader: (previous) => awaitLeader(nodes, previous, lastFault),
    heal: async () => {
      await sendToKeeper(keeper, 'revive')
      await waitUntilHealthy(healMs)
    },
    stop: () => keeper.end(),
  }
}
