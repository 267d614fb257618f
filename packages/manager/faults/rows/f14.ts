// F14: the master of Redis is killed and Sentinel makes a replica its successor. Notifications are accepted as before, and
// hints reach the sockets of other replicas again within seconds.
import { pause } from '../children.ts'
import { hintTwice, lossyHints, lostAtHome, neverResumed, refusedEmit, unready } from '../comms-mutants.ts'
import { type CommsStage, watchReadiness } from '../comms-stage.ts'
import { type HarmedRedis, judgeHints, judgeService, watchMs } from '../hint-judge.ts'
import { drainHints, openEverywhere, startHintLoad, sumOf } from '../hint-load.ts'
import { type Row, defineCommsRow } from '../row.ts'
import { type Schedule, reach, stepOf } from '../schedule.ts'
import { redisTimeline } from '../timelines.ts'
import { createVerdict } from '../verdict.ts'

/** The ports of the master before, and in the end. */
type Observed = HarmedRedis & { masters: [number, number] }

const people = 20
const rates = { emits: 30, publishes: 15 }

async function observe(stage: CommsStage, schedule: Schedule): Promise<Observed> {
  const { sentinel, world, replicas, say } = stage
  if (sentinel === null) throw new Error('there is no Sentinel')
  const places = await openEverywhere(stage, world)
  const endWatch = watchReadiness(replicas)
  const before = await sumOf(stage, 'svc_hints_lost_total')
  const endLoad = startHintLoad(stage, places, rates)
  await reach(stepOf(schedule, 'kill'), Date.now())
  const master = await sentinel.master()
  say('killing the master of Redis')
  const harmedAt = Date.now()
  sentinel.signal(master, 'SIGKILL')
  await pause(watchMs)
  const record = await endLoad()
  const drainSeconds = await drainHints(stage)
  return {
    ...record,
    drainSeconds,
    heldBy: places.map(({ replica }) => replica),
    arrivals: await stage.sockets.arrivals(),
    harmedAt,
    // Nobody starts it again: the failover is a part of the time.
    healedAt: harmedAt,
    masters: [master, await sentinel.master()],
    samples: await endWatch(),
    counted: (await sumOf(stage, 'svc_hints_lost_total')) - before,
  }
}

function judge(observed: Observed) {
  const figures = createVerdict()
  judgeService(figures, observed)
  // Without a successor nothing was shown.
  figures.atLeast('masters', new Set(observed.masters).size, 2)
  judgeHints(figures, observed)
  return figures.verdict
}

export const f14: Row = defineCommsRow<Observed>({
  id: 'F14',
  title: 'kill -9 of the master of Redis under Sentinel, with sockets on three replicas',
  setup: () => ({ replicas: 3, withSentinel: true, applications: 2, users: people }),
  schedule: (random) => [
    { what: 'kill', target: 'master of redis', atMs: Math.round(3_000 + 3_000 * random()) },
  ],
  limitSeconds: 180,
  observe,
  judge,
  timeline: (observed) => redisTimeline(observed, 'the master is killed'),
  mutants: [
    refusedEmit('emit_refused'),
    lostAtHome(),
    hintTwice(),
    neverResumed(),
    lossyHints(),
    unready(),
    {
      name: 'no successor is made',
      breaks: 'masters',
      plant: (observed) => ({ ...observed, masters: [observed.masters[0], observed.masters[0]] }),
    },
  ],
})
