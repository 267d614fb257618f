// The master of Redis is lost under Sentinel, with all features in use. Nothing durable lives there, so nobody is refused:
// only hints to the sockets of other replicas stop for as long as the engine needs, and a little.
import { pause } from '../children.ts'
import { type ReadinessSample, watchReadiness } from '../comms-stage.ts'
import { awaitSteady, findOutage } from '../engines/bare-writers.ts'
import { startRedisClients } from '../engines/plain-clients.ts'
import type { Mutant, Row } from '../row.ts'
import { type Schedule, bySize, reach } from '../schedule.ts'
import type { Arrival } from '../sockets.ts'
import { type MixedObserved, defineMixedRow } from './row.ts'
import type { MixedStage } from './stage.ts'

type Observed = MixedObserved & {
  samples: ReadinessSample[]
  /** Hints as sockets got them; their keys tell when they were sent. */
  arrivals: Arrival[]
  /** How many sockets each hint is for. */
  audience: number
  masters: [number, number]
  bareMs: number
}
type Fault = 'SIGKILL' | 'SIGSTOP'

const mostOverMs = 3_000
const firstMs = 6_000
const plainClients = 4

async function observe(stage: MixedStage, schedule: Schedule): Promise<Observed> {
  const { sentinel } = stage
  if (sentinel === null) throw new Error('there is no Sentinel')
  const bare = stage.ends(await startRedisClients(sentinel, { count: plainClients, name: 'beside' }))
  const endWatch = watchReadiness(stage.replicas)
  const [step] = schedule
  if (step === undefined) throw new Error('nothing is planned')
  const watchedMs = bySize(stage.options, 40_000, 25_000)
  const load = await stage.startLoad((firstMs + watchedMs) / 1_000, { publishes: 10 })
  await reach(step, load.startedAt)
  const master = await sentinel.master()
  stage.say(`${step.what} to the master of Redis`)
  const at = Date.now()
  sentinel.signal(master, step.what as Fault)
  while ((await sentinel.master()) === master) await pause(50)
  await awaitSteady(bare.writers, 2_000)
  const until = Date.now()
  await load.end()
  await bare.writers.stop()
  const successor = await sentinel.master()
  await sentinel.heal(master)
  return {
    ...(await load.settle()),
    samples: await endWatch(),
    arrivals: (await stage.sockets.arrivals()).filter(({ key }) => key.startsWith('live ')),
    audience: Math.ceil(stage.opened / stage.world.comms.applicationIds.length),
    masters: [master, successor],
    bareMs: findOutage(bare.writers.acknowledged, at).firstWriteMs,
    faults: [{ name: step.what, at, until }],
  }
}

/**
 * How long after the fault hints reach everyone again: from it to the first of the hints from which on none misses anybody.
 * Sockets of the sending replica get theirs all the time.
 */
export function hintsBackMs({
  arrivals,
  audience,
  faults,
}: Pick<Observed, 'arrivals' | 'audience' | 'faults'>): number {
  const [fault] = faults
  if (fault === undefined) return Infinity
  const counts = Map.groupBy(arrivals, ({ key }) => Number(key.split(' ')[1]))
  const after = [...counts]
    .filter(([sentAt]) => sentAt > fault.at)
    .map(([sentAt, got]) => ({ sentAt, isWhole: got.length >= audience }))
    .sort((a, b) => a.sentAt - b.sentAt)
  const last = after.findLastIndex(({ isWhole }) => !isWhole)
  const back = after[last + 1]
  return back === undefined ? Infinity : back.sentAt - fault.at
}

const mutants: readonly Mutant<Observed>[] = [
  {
    name: 'a replica is not ready for a moment',
    breaks: 'not_ready',
    plant: (observed) => ({
      ...observed,
      samples: observed.samples.map((sample, index) => (index === 0 ? { ...sample, status: 503 } : sample)),
    }),
  },
  {
    name: 'hints do not flow again',
    breaks: 'hints_back_ms',
    plant: (observed) => ({
      ...observed,
      arrivals: observed.arrivals.filter(({ at }) => at < (observed.faults[0]?.at ?? 0)),
    }),
  },
  {
    name: 'no successor is made',
    breaks: 'masters',
    plant: (observed) => ({ ...observed, masters: [observed.masters[0], observed.masters[0]] }),
  },
  {
    name: 'a caller is refused because Redis is away',
    breaks: 'refused',
    plant: (observed) => ({
      ...observed,
      operations: observed.operations.map((one, index) =>
        index === 0 ? { ...one, status: 503, outcome: 'unknown' as const } : one,
      ),
    }),
  },
]

/** A row in which the master of Redis is lost like this. */
export const defineSentinelRow = (row: { id: string; title: string; fault: Fault }): Row =>
  defineMixedRow<Observed>({
    id: row.id,
    title: row.title,
    schedule: (random) => [{ atMs: Math.round(firstMs + random() * 2_000), what: row.fault }],
    setup: () => ({ replicas: 3, postgres: 'patroni', withSentinel: true }),
    limitSeconds: 300,
    observe,
    judge: (figures, observed) => {
      const { samples, operations, masters, bareMs } = observed
      figures.none(
        'not_ready',
        samples.filter(({ status }) => status !== 200).map(({ replica, status }) => `${replica} ${status}`),
      )
      figures.none(
        'refused',
        operations.filter(({ outcome }) => outcome === 'unknown').map(({ op, status }) => `${op} ${status}`),
      )
      figures.atLeast('masters', new Set(masters).size, 2)
      figures.recovery('hints_back_ms', { ms: hintsBackMs(observed), most: bareMs + mostOverMs, bareMs })
    },
    mutants,
  })
