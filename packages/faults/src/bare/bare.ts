// Measures how PostgreSQL and Redis recover without the service. It measures the time from a fault to a plain client's
// first acknowledged write, and checks that every acknowledged write survives.
import { type RedisTopology, startSentinel } from '@manager/harness/engines/redis-topology.ts'
import { pause } from '../children.ts'
import { type Writers, awaitSteady, findOutage } from './writers.ts'
import { type PatroniCluster, type PatroniFault, startPatroni } from '../engines/patroni.ts'
import { type PlainClients, startPostgresClients, startRedisClients } from './plain-clients.ts'

type BareFault = {
  engine: 'postgres' | 'redis'
  fault: string
  /** The time from the fault to the write that ended the longest gap. */
  firstWriteMs: number
  gapMs: number
  acknowledged: number
  /**
   * Number of acknowledged writes that were lost. PostgreSQL must not lose any. Redis may, because it replicates
   * asynchronously.
   */
  lost: number
}
export type BareFigures = BareFault[]

const writers = 16
const steadyMs = 2_000
const postgresFaults: readonly PatroniFault[] = ['kill', 'switchover', 'freeze', 'partition']
const redisFaults = { kill: 'SIGKILL', freeze: 'SIGSTOP' } as const

const bareLine = ({ engine, fault, firstWriteMs, gapMs, acknowledged, lost }: BareFault): string =>
  `BARE ${engine} ${fault} first_write_ms=${firstWriteMs} gap_ms=${gapMs} acknowledged=${acknowledged} lost=${lost}`

/** Measures PostgreSQL and Redis, prints one line per fault and returns the figures. */
export async function measureBare(print: (text: string) => void): Promise<BareFigures> {
  const figures: BareFigures = []
  const addFigure = (figure: BareFault): void => {
    figures.push(figure)
    print(bareLine(figure))
  }
  print('starting PostgreSQL with Patroni')
  const patroni = await startPatroni({ network: true })
  try {
    for (const fault of postgresFaults) addFigure(await breakPostgres(patroni, fault))
  } finally {
    await patroni.stop()
  }
  print('starting Redis with Sentinel')
  const sentinel = await startSentinel()
  try {
    for (const fault of ['kill', 'freeze'] as const) addFigure(await breakRedis(sentinel, fault))
  } finally {
    await sentinel.stop()
  }
  return figures
}

async function breakPostgres(patroni: PatroniCluster, fault: PatroniFault): Promise<BareFault> {
  const clients = await startPostgresClients(patroni.adminUrl, { count: writers, name: fault })
  return measureOutage(clients, async () => {
    const at = await writeThroughFault(clients.writers, async () => {
      const { node, at: appliedAt } = await patroni.applyFault(fault)
      await patroni.newLeader(node)
      return appliedAt
    })
    await patroni.heal()
    return { engine: 'postgres', fault, at }
  })
}

/** Writes before, during and after the fault. Resolves to the time of the fault. */
async function writeThroughFault(load: Writers, applyFault: () => Promise<number>): Promise<number> {
  try {
    await awaitSteady(load, steadyMs)
    const at = await applyFault()
    await awaitSteady(load, steadyMs)
    return at
  } finally {
    await load.stop()
  }
}

type AppliedFault = Pick<BareFault, 'engine' | 'fault'> & { at: number }

/** Returns the outage that the clients observed. Always closes the clients. */
async function measureOutage(
  clients: PlainClients,
  applyFault: () => Promise<AppliedFault>,
): Promise<BareFault> {
  try {
    const { engine, fault, at } = await applyFault()
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

async function breakRedis(sentinel: RedisTopology, fault: 'kill' | 'freeze'): Promise<BareFault> {
  const clients = await startRedisClients(sentinel, { count: writers, name: fault })
  return measureOutage(clients, async () => {
    const master = await sentinel.master()
    const at = await writeThroughFault(clients.writers, async () => {
      sentinel.signal(master, redisFaults[fault])
      const appliedAt = Date.now()
      while ((await sentinel.master()) === master) await pause(50)
      return appliedAt
    })
    await sentinel.heal(master)
    return { engine: 'redis', fault, at }
  })
}
