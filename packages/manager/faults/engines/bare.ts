// What the engines need by themselves, without the service: how long after a fault a plain client has its first write
// acknowledged, and whether every write that was acknowledged is there afterwards.
import { Client } from 'pg'
import { createSentinel } from 'redis'
import { type RedisTopology, startSentinel } from '../../test/engines/redis-topology.ts'
import { type Writers, awaitSteady, findLost, findOutage, startWriters } from './bare-writers.ts'
import { type PatroniCluster, type PatroniFault, startPatroni } from './patroni.ts'

type BareFault = {
  engine: 'postgres' | 'redis'
  fault: string
  /** From the fault to the write that ended the longest time without one. */
  firstWriteMs: number
  gapMs: number
  acknowledged: number
  /** Acknowledged and not there; PostgreSQL promises none, Redis replicates asynchronously. */
  lost: number
}
export type BareFigures = BareFault[]

const writers = 16
const steadyMs = 2_000
const postgresFaults: readonly PatroniFault[] = ['kill', 'switchover', 'freeze', 'partition']
const redisFaults = { kill: 'SIGKILL', freeze: 'SIGSTOP' } as const

/** A line of what was measured. */
const bareLine = ({ engine, fault, firstWriteMs, gapMs, acknowledged, lost }: BareFault): string =>
  `BARE ${engine} ${fault} first_write_ms=${firstWriteMs} gap_ms=${gapMs} acknowledged=${acknowledged} lost=${lost}`

/** Measures both engines, says each line, and returns the figures. */
export async function measureBare(say: (text: string) => void): Promise<BareFigures> {
  const figures: BareFigures = []
  const note = (figure: BareFault): void => {
    figures.push(figure)
    say(bareLine(figure))
  }
  say('starting PostgreSQL by Patroni')
  const patroni = await startPatroni({ network: true })
  try {
    await once(patroni.adminUrl, 'create table bare (id text)')
    for (const fault of postgresFaults) note(await harmPostgres(patroni, fault))
  } finally {
    await patroni.stop()
  }
  say('starting Redis by Sentinel')
  const sentinel = await startSentinel()
  try {
    for (const fault of ['kill', 'freeze'] as const) note(await harmRedis(sentinel, fault))
  } finally {
    await sentinel.stop()
  }
  return figures
}

export async function connectTo(url: string): Promise<Client> {
  // Without limits a client on a dead link waits for ever.
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 4_000,
    keepAlive: true,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    client.end().catch(() => undefined)
    throw error
  }
}

async function once(url: string, text: string): Promise<{ id: string }[]> {
  const client = await connectTo(url)
  try {
    return (await client.query<{ id: string }>(text)).rows
  } finally {
    await client.end()
  }
}

async function harmPostgres(patroni: PatroniCluster, fault: PatroniFault): Promise<BareFault> {
  const load = startWriters(writers, async () => {
    const client = await connectTo(patroni.adminUrl)
    return {
      write: (id) => client.query('insert into bare (id) values ($1)', [`${fault} ${id}`]),
      close: () => void client.end().catch(() => undefined),
    }
  })
  const at = await hit(load, async () => {
    const { node, at: hitAt } = await patroni.harm(fault)
    await patroni.newLeader(node)
    return hitAt
  })
  await patroni.heal()
  const rows = await once(patroni.adminUrl, `select id from bare where id like '${fault} %'`)
  const prefix = `${fault} `
  const present = new Set(rows.map(({ id }) => id.slice(prefix.length)))
  return figureOf({ engine: 'postgres', fault, load, at }, present)
}

/** Writes before, during and after it; resolves to when it was. */
async function hit(load: Writers, harm: () => Promise<number>): Promise<number> {
  try {
    await awaitSteady(load, steadyMs)
    const at = await harm()
    await awaitSteady(load, steadyMs)
    return at
  } finally {
    await load.stop()
  }
}

type Measured = Pick<BareFault, 'engine' | 'fault'> & { load: Writers; at: number }

function figureOf({ engine, fault, load, at }: Measured, present: ReadonlySet<string>): BareFault {
  const { acknowledged } = load
  const lost = findLost(acknowledged, present).length
  return { engine, fault, ...findOutage(acknowledged, at), acknowledged: acknowledged.length, lost }
}

async function harmRedis(sentinel: RedisTopology, fault: 'kill' | 'freeze'): Promise<BareFault> {
  const client = createSentinel({
    name: 'main',
    sentinelRootNodes: sentinel.places.map((place) => {
      const [host = '', port = ''] = place.split(':')
      return { host, port: Number(port) }
    }),
    masterPoolSize: 4,
    scanInterval: 1_000,
  })
  client.on('error', () => undefined)
  await client.connect()
  const keyOf = (id: string): string => `${fault} ${id}`
  try {
    const load = startWriters(writers, () =>
      Promise.resolve({
        write: (id: string) => withinSecond(client.set(keyOf(id), '1')),
        close: () => undefined,
      }),
    )
    const master = await sentinel.master()
    const at = await hit(load, async () => {
      sentinel.signal(master, redisFaults[fault])
      const hitAt = Date.now()
      while ((await sentinel.master()) === master) await new Promise((resolve) => setTimeout(resolve, 50))
      return hitAt
    })
    await sentinel.heal(master)
    const present = new Set<string>()
    for (const { id } of load.acknowledged) if ((await client.get(keyOf(id))) !== null) present.add(id)
    return figureOf({ engine: 'redis', fault, load, at }, present)
  } finally {
    await client.destroy()
  }
}

/** The client alone keeps a command for as long as the server is away. */
export async function withinSecond(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer within a second')), 1_000)
  work.catch(() => undefined)
  try {
    await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
