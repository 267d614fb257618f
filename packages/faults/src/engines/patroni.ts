// A highly available PostgreSQL of one's own: three nodes by Patroni, replicated synchronously, and a read-write port.
import { Client } from 'pg'
import { pause, until } from '../children.ts'
import { type Keeper, startKeeper } from './kept.ts'
import type { KeeperAnswer, KeptCluster } from './patroni-keeper.ts'
import type { Node } from './patroni-config.ts'

/**
 * What is done to the leader. `kill`: its Patroni and PostgreSQL at once; `kill-postgres`: its postmaster; `freeze`: SIGSTOP
 * of its Patroni; `freeze-all`: of Patroni, postmaster and all its children; `partition`: it hears nobody and nobody hears
 * it; `partition-peers`: the same, but clients still reach it.
 */
export type PatroniFault =
  'kill' | 'kill-postgres' | 'freeze' | 'freeze-all' | 'switchover' | 'partition' | 'partition-peers'
/** A node, and when. */
type LeaderEvent = { node: number; at: number }
export type PatroniCluster = {
  /** A superuser through the read-write port. */
  adminUrl: string
  dir: string
  /** From 1 to 3; throws when there is none. */
  leader(): Promise<number>
  /** Does it to the leader; resolves as soon as the fault is in. */
  harm(fault: PatroniFault): Promise<LeaderEvent>
  /** Resolves when another node leads or, after `kill-postgres`, the same one with a new postmaster. */
  newLeader(than: number): Promise<LeaderEvent>
  /** Undoes every fault and waits until the cluster is whole: one leader, two streaming, one of them synchronous. */
  heal(): Promise<void>
  stop(): Promise<void>
}
export type PatroniOptions = {
  /** A network namespace for each node, which a partition needs. */
  network?: boolean
  /** Where the logs of all programs go; else they are lost. */
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

/** Whether the node says of itself that it is this. */
async function is(node: Node, role: 'primary' | 'sync'): Promise<boolean> {
  try {
    const response = await ask(node, role)
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}

/** Of those that answer, the nodes that are this. */
async function those(nodes: readonly Node[], role: 'primary' | 'sync'): Promise<Node[]> {
  const answers = await Promise.all(nodes.map((node) => is(node, role)))
  return nodes.filter((_, index) => answers[index] === true)
}

const statusOf = async (node: Node): Promise<Status> => (await ask(node, 'patroni')).json() as Promise<Status>

/** A node's own word is not enough: right after a fault it may still repeat its former role. */
async function isWhole(nodes: readonly Node[]): Promise<boolean> {
  const [leader, ...others] = await those(nodes, 'primary')
  if (leader === undefined || others.length > 0) return false
  const { replication = [] } = await statusOf(leader)
  const streaming = replication.filter(({ state }) => state === 'streaming')
  const synchronous = await those(nodes, 'sync')
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

/** What the last fault was, for who waits for the next leader. */
type Hit = { postmasterStart: string | null; refusal: string | null }

async function findLeader(nodes: readonly Node[]): Promise<Node> {
  const [leader] = await those(nodes, 'primary')
  if (leader === undefined) throw new Error('no node leads')
  return leader
}

/** Asks for a change of leader; Patroni answers when it is over, so only a refusal is kept. */
async function switchOver(leader: Node, hit: Hit): Promise<void> {
  const body = JSON.stringify({ leader: `node${leader.number}` })
  try {
    const signal = AbortSignal.timeout(electionMs)
    const response = await ask(leader, 'switchover', { method: 'POST', body, signal })
    const text = await response.text()
    if (!response.ok) hit.refusal = `switchover: ${response.status} ${text}`
  } catch (error) {
    hit.refusal = `switchover: ${String(error)}`
  }
}

async function tell(keeper: Keeper, line: string): Promise<number> {
  const answer = JSON.parse(await keeper.tell(line)) as KeeperAnswer
  if ('error' in answer) throw new Error(`${line}: ${answer.error}`)
  return answer.at
}

async function awaitLeader(nodes: readonly Node[], than: number, hit: Hit): Promise<LeaderEvent> {
  const others = nodes.filter(({ number }) => number !== than)
  const same = nodes.find(({ number }) => number === than)
  for (const end = Date.now() + electionMs; Date.now() < end;) {
    const [found] = await those(others, 'primary')
    if (found !== undefined) return { node: found.number, at: Date.now() }
    if (hit.refusal !== null) throw new Error(hit.refusal)
    if (hit.postmasterStart !== null && same !== undefined && (await is(same, 'primary'))) {
      const { postmaster_start_time: started } = await statusOf(same).catch((): Status => ({}))
      if (started !== undefined && started !== hit.postmasterStart) return { node: than, at: Date.now() }
    }
    await pause(50)
  }
  throw new Error(`no new leader within ${electionMs / 1_000} s`)
}

/** Starts it, empty, and waits until it is whole and can be written to. */
export async function startPatroni(options: PatroniOptions = {}): Promise<PatroniCluster> {
  const { network = false, logFolder = '' } = options
  const keeper = startKeeper(keeperFile, [logFolder, network ? 'network' : 'loopback'])
  const { dir, nodes, readWritePort } = JSON.parse(await keeper.answer()) as KeptCluster
  const adminUrl = `postgres://postgres@127.0.0.1:${readWritePort}/postgres`
  const whole = (ms: number): Promise<void> =>
    until('a whole cluster of PostgreSQL', ms, () => isWhole(nodes))
  try {
    await whole(startMs)
    await until('the read-write port', startMs, () => canWrite(adminUrl))
  } catch (error) {
    await keeper.end()
    throw error
  }
  let hit: Hit = { postmasterStart: null, refusal: null }
  return {
    adminUrl,
    dir,
    leader: async () => (await findLeader(nodes)).number,
    harm: async (fault) => {
      const leader = await findLeader(nodes)
      const node = leader.number
      hit = { postmasterStart: null, refusal: null }
      if (fault === 'kill-postgres')
        hit.postmasterStart = (await statusOf(leader)).postmaster_start_time ?? null
      if (fault !== 'switchover') return { node, at: await tell(keeper, `${fault} ${node}`) }
      const at = Date.now()
      void switchOver(leader, hit)
      return { node, at }
    },
    newLeader: (than) => awaitLeader(nodes, than, hit),
    heal: async () => {
      await tell(keeper, 'revive')
      await whole(healMs)
    },
    stop: () => keeper.end(),
  }
}
