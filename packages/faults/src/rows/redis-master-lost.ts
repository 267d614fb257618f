// F14, F43 and F44: the master of Redis is lost and Sentinel makes a replica its successor. Nothing durable lives there, so
// nobody is refused: only hints to the sockets of other replicas stop for as long as the engine needs, and a little.
// F14 looks at hints alone; F43 and F44 have all features in use. A master that was frozen (F44) comes back with what it knew.
import { pause } from '../children.ts'
import { type ReadinessSample, watchReadiness } from '../comms-stage.ts'
import { awaitSteady, findOutage } from '../bare/writers.ts'
import { startRedisClients } from '../bare/plain-clients.ts'
import { hintTwice, unready } from '../comms-mutants.ts'
import { judgeReady } from '../hint-judge.ts'
import { defineLostRedis } from '../lost-redis.ts'
import type { Mutant, Row } from '../row.ts'
import { type Schedule, bySize, reach, stepOf } from '../schedule.ts'
import type { Arrival } from '../sockets.ts'
import type { createVerdict } from '../verdict.ts'
import { hintsBackMs } from '../mixed/checkers.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import { failedOperation, mutant } from '../plant.ts'

/** The ports of the master before, and in the end. */
type Masters = { masters: [number, number] }
type Observed = MixedObserved &
  Masters & {
    samples: ReadinessSample[]
    /** Hints as sockets got them; their keys tell when they were sent. */
    arrivals: Arrival[]
    /** How many sockets each hint is for. */
    audience: number
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

/** Without a successor nothing was shown. */
const judgeSuccessor = (figures: ReturnType<typeof createVerdict>, masters: Masters['masters']): void =>
  figures.atLeast('masters', new Set(masters).size, 2)

const noSuccessor = <O extends Masters>(): Mutant<O> => ({
  name: 'no successor is made',
  breaks: 'masters',
  plant: (observed) => ({ ...observed, masters: [observed.masters[0], observed.masters[0]] }),
})

const mutants: readonly Mutant<Observed>[] = [
  unready(),
  mutant('hints do not flow again', 'hints_back_ms', (observed) => ({
    arrivals: observed.arrivals.filter(({ at }) => at < (observed.faults[0]?.at ?? 0)),
  })),
  noSuccessor(),
  failedOperation('a caller is refused because Redis is away', 'refused', 503),
]

const defineSentinelRow = (id: string, title: string, fault: Fault): Row =>
  defineMixedRow<Observed>({
    id,
    title,
    schedule: (random) => [{ atMs: Math.round(firstMs + random() * 2_000), what: fault }],
    setup: () => ({ replicas: 3, postgres: 'patroni', withSentinel: true }),
    limitSeconds: 300,
    observe,
    judge: (figures, observed) => {
      const { samples, operations, masters, bareMs } = observed
      judgeReady(figures, samples)
      figures.none(
        'refused',
        operations.filter(({ outcome }) => outcome === 'unknown').map(({ op, status }) => `${op} ${status}`),
      )
      judgeSuccessor(figures, masters)
      figures.recovery('hints_back_ms', { ms: hintsBackMs(observed), most: bareMs + mostOverMs, bareMs })
    },
    mutants,
  })

export const f43 = defineSentinelRow(
  'F43',
  'kill -9 of the master of Redis under Sentinel, under all features',
  'SIGKILL',
)
export const f44 = defineSentinelRow(
  'F44',
  'the master of Redis under Sentinel is frozen, under all features',
  'SIGSTOP',
)

export const f14 = defineLostRedis<Masters>({
  id: 'F14',
  title: 'kill -9 of the master of Redis under Sentinel, with sockets on three replicas',
  setup: { withSentinel: true, applications: 2 },
  schedule: (random) => [
    { what: 'kill', target: 'master of redis', atMs: Math.round(3_000 + 3_000 * random()) },
  ],
  rates: { emits: 30, publishes: 15 },
  harm: async ({ sentinel, say }, schedule) => {
    if (sentinel === null) throw new Error('there is no Sentinel')
    await reach(stepOf(schedule, 'kill'), Date.now())
    const master = await sentinel.master()
    say('killing the master of Redis')
    const harmedAt = Date.now()
    sentinel.signal(master, 'SIGKILL')
    // Nobody starts it again: the failover is a part of the time.
    return {
      harmedAt,
      healedAt: harmedAt,
      look: async () => ({ masters: [master, await sentinel.master()] }),
    }
  },
  outage: 'the master is killed',
  judge: (figures, { masters }) => judgeSuccessor(figures, masters),
  mutants: [hintTwice(), noSuccessor()],
})
