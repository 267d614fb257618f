// F14, F43 and F44: the Redis master is lost, and Sentinel promotes a replica. Redis stores nothing durable,
// so no request is rejected. Only hints, which are best-effort messages, stop reaching the sockets of other
// replicas. This outage is only slightly longer than the Redis failover. F14 tests only hints. F43 and F44
// use all features. A frozen master (F44) returns with its old state.
import { pause } from '../children.ts'
import { type ReadinessSample, watchReadiness } from '../comms-stage.ts'
import { awaitSteady, findOutage } from '../bare/writers.ts'
import { startRedisClients } from '../bare/plain-clients.ts'
import { hintTwice, unready } from '../comms-mutants.ts'
import { judgeReady } from '../hint-judge.ts'
import { defineLostRedis } from '../lost-redis.ts'
import type { Mutant, Row } from '../row.ts'
import { type Schedule, bySize, waitForStep, stepOf } from '../schedule.ts'
import type { Arrival } from '../sockets.ts'
import type { createVerdict } from '../verdict.ts'
import { hintRecoveryMs } from '../mixed/checkers.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import { failedOperation, mutant } from '../plant.ts'

/** Ports of the initial and the final master. */
type Masters = { masters: [number, number] }
type Observed = MixedObserved &
  Masters & {
    samples: ReadinessSample[]
    /** Hints that sockets received. The key of a hint contains its send time. */
    arrivals: Arrival[]
    /** The number of sockets that must receive each hint. */
    audience: number
    bareMs: number
  }
type Fault = 'SIGKILL' | 'SIGSTOP'

const maxOverheadMs = 3_000
const firstMs = 6_000
const plainClients = 4

async function observe(stage: MixedStage, schedule: Schedule): Promise<Observed> {
  const { sentinel } = stage
  if (sentinel === null) throw new Error('this scenario needs Sentinel')
  const bare = stage.registerPart(await startRedisClients(sentinel, { count: plainClients, name: 'plain' }))
  const endWatch = watchReadiness(stage.replicas)
  const [step] = schedule
  if (step === undefined) throw new Error('the schedule is empty')
  const watchedMs = bySize(stage.options, 40_000, 25_000)
  const load = await stage.startLoad((firstMs + watchedMs) / 1_000, { publishes: 10 })
  await waitForStep(step, load.startedAt)
  const master = await sentinel.master()
  stage.log(`sending ${step.what} to the Redis master`)
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

/** Checks that a different server has become the master. */
const judgeSuccessor = (figures: ReturnType<typeof createVerdict>, masters: Masters['masters']): void =>
  figures.atLeast('masters', new Set(masters).size, 2)

const noSuccessor = <O extends Masters>(): Mutant<O> => ({
  name: 'no successor is promoted',
  breaks: 'masters',
  plant: (observed) => ({ ...observed, masters: [observed.masters[0], observed.masters[0]] }),
})

const mutants: readonly Mutant<Observed>[] = [
  unready(),
  mutant('hint delivery does not resume', 'hints_back_ms', (observed) => ({
    arrivals: observed.arrivals.filter(({ at }) => at < (observed.faults[0]?.at ?? 0)),
  })),
  noSuccessor(),
  failedOperation('a caller is rejected because Redis is unreachable', 'refused', 503),
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
      figures.recovery('hints_back_ms', { ms: hintRecoveryMs(observed), max: bareMs + maxOverheadMs, bareMs })
    },
    mutants,
  })

export const f43 = defineSentinelRow(
  'F43',
  'kill -9 of the Redis master with Sentinel, with all features in use',
  'SIGKILL',
)
export const f44 = defineSentinelRow(
  'F44',
  'the Redis master with Sentinel is frozen, with all features in use',
  'SIGSTOP',
)

export const f14 = defineLostRedis<Masters>({
  id: 'F14',
  title: 'kill -9 of the Redis master with Sentinel, with sockets on three replicas',
  setup: { withSentinel: true, applications: 2 },
  schedule: (random) => [
    { what: 'kill', target: 'redis master', atMs: Math.round(3_000 + 3_000 * random()) },
  ],
  rates: { emits: 30, publishes: 15 },
  injectFault: async ({ sentinel, log }, schedule) => {
    if (sentinel === null) throw new Error('this scenario needs Sentinel')
    await waitForStep(stepOf(schedule, 'kill'), Date.now())
    const master = await sentinel.master()
    log('killing the Redis master')
    const brokenAt = Date.now()
    sentinel.signal(master, 'SIGKILL')
    // The master is not restarted, so the recovery time includes the failover.
    return {
      brokenAt,
      healedAt: brokenAt,
      readExtra: async () => ({ masters: [master, await sentinel.master()] }),
    }
  },
  outage: 'the master is killed',
  judge: (figures, { masters }) => judgeSuccessor(figures, masters),
  mutants: [hintTwice(), noSuccessor()],
})
