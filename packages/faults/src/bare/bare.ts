// What the engines need by themselves, without the service: how long after a fault a plain client has its first write
// acknowledged, and whether every write that was acknowledged is there afterwards.
import { type RedisTopology, startSentinel } from '@manager/harness/engines/redis-topology.ts'
import { pause } from '../children.ts'
import { type Writers, awaitSteady, findOutage } from './writers.ts'
import { type PatroniCluster, type PatroniFault, startPatroni } from '../engines/patroni.ts'
import { type PlainClients, startPostgresClients, startRedisClients } from './plain-clients.ts'

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

async function harmPostgres(patroni: PatroniCluster, fault: PatroniFault): Promise<BareFault> {
  const clients = await startPostgresClients(patroni.adminUrl, { count: writers, name: fault })
  return measured(clients, async () => {
    const at = await hit(clients.writers, async () => {
      const { node, at: hitAt } = await patroni.harm(fault)
      await patroni.newLeader(node)
      return hitAt
    })
    await patroni.heal()
    return { engine: 'postgres', fault, at }
  })
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

type Measured = Pick<BareFault, 'engine' | 'fault'> & { at: number }

/** What the clients saw of the harm; they are ended whatever happens. */
async function measured(clients: PlainClients, harm: () => Promise<Measured>): Promise<BareFault> {
  try {
    const { engine, fault, at } = await harm()
    const lost = await clients.findLost()
    const { acknowledged } = clients.writers
    return {
      engine,
      fault,
      ...findOutage(acknowledged, at),
      acknowledged: acknowledged.length,
      lost: lost.length,
    }
  } finally {
    await clients.end()
  }
}

async function harmRedis(sentinel: RedisTopology, fault: 'kill' | 'freeze'): Promise<BareFault> {
  const clients = await startRedisClients(sentinel, { count: writers, name: fault })
  return measured(clients, async () => {
    const master = await sentinel.master()
    const at = await hit(clients.writers, async () => {
      sentinel.signal(master, redisFaults[fault])
      const hitAt = Date.now()
      while ((await sentinel.master()) === master) await pause(50)
      return hitAt
    })
    await sentinel.heal(master)
    return { engine: 'redis', fault, at }
  })
}
