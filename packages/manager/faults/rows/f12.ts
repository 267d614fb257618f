// F12: Redis is killed. Notifications are accepted as before, replicas stay ready and limit by themselves, the sockets of
// the replica that sends get their hints; the hints that others do not get are counted, and flow again when it is back.
import { pause } from '../children.ts'
import { hintTwice, lossyHints, lostAtHome, neverResumed, refusedEmit, unready } from '../comms-mutants.ts'
import { type CommsStage, watchReadiness } from '../comms-stage.ts'
import { type HarmedRedis, judgeHints, judgeService, watchMs } from '../hint-judge.ts'
import { type Flood, drainHints, flood, openEverywhere, startHintLoad, sumOf } from '../hint-load.ts'
import { type Row, defineCommsRow } from '../row.ts'
import { type Schedule, reach, stepOf } from '../schedule.ts'
import { redisTimeline } from '../timelines.ts'
import { createVerdict } from '../verdict.ts'

type Observed = HarmedRedis & { flood: Flood }

const people = 20
const rates = { emits: 30, publishes: 15 }
// The defaults, for the part about limits.
const limit = { rate: 50, burst: 200 }
const floodSize = 600
const shareUncounted = 0.05
// Replicas have noticed that Redis is away, and have been flooded, before it is back.
const downMs = 8_000

async function observe(stage: CommsStage, schedule: Schedule): Promise<Observed> {
  const { cluster, world, calls, replicas, say } = stage
  // The last application has no sockets; it is the one that is limited.
  const [applicationIds, flooded] = [world.applicationIds.slice(0, -1), world.applicationIds.at(-1) as string]
  const places = await openEverywhere(stage, { ...world, applicationIds })
  const endWatch = watchReadiness(replicas)
  const before = await sumOf(stage, 'svc_hints_lost_total')
  const endLoad = startHintLoad(stage, places, rates)
  const startedAt = Date.now()
  await reach(stepOf(schedule, 'kill'), startedAt)
  say('killing Redis')
  const harmedAt = Date.now()
  await cluster.harm('redis SIGKILL')
  await pause(3_000)
  const flooding = await flood(calls, {
    url: replicas[0]?.url ?? '',
    applicationId: flooded,
    count: floodSize,
  })
  await reach(stepOf(schedule, 'start'), startedAt)
  say('starting Redis')
  await cluster.harm('redis start')
  const healedAt = Date.now()
  await pause(watchMs)
  const record = await endLoad()
  const drainSeconds = await drainHints(stage)
  return {
    ...record,
    drainSeconds,
    heldBy: places.map(({ replica }) => replica),
    arrivals: await stage.sockets.arrivals(),
    harmedAt,
    healedAt,
    samples: await endWatch(),
    counted: (await sumOf(stage, 'svc_hints_lost_total')) - before,
    flood: flooding,
  }
}

function judge(observed: Observed) {
  const figures = createVerdict()
  judgeService(figures, observed)
  const missed = judgeHints(figures, observed)
  const { counted } = observed
  // Nobody looks at what flooded, but it was lost as well. Around both ends of the outage some are lost without notice: for
  // about a second.
  const lost = missed + observed.flood.accepted
  const unnoticed = shareUncounted * lost + rates.emits + rates.publishes
  figures.atMost('uncounted', Math.max(0, lost - counted), unnoticed)
  figures.atMost('counted_for_nothing', Math.max(0, counted - lost), shareUncounted * lost)
  judgeLimit(figures, observed.flood)
  return figures.verdict
}

/** A replica without Redis limits by itself: at most what one bucket holds, and says when to come again. */
function judgeLimit(
  figures: ReturnType<typeof createVerdict>,
  { accepted, limited, ms, ...rest }: Flood,
): void {
  figures.atLeast('limited', limited, 1)
  figures.atMost('let_through', accepted, limit.burst + (limit.rate * ms) / 1_000 + 1)
  figures.atMost('limited_badly', rest.withoutRetryAfter + rest.other, 0)
}

export const f12: Row = defineCommsRow<Observed>({
  id: 'F12',
  title: 'kill -9 of Redis during emits and publishes, with sockets on three replicas',
  setup: () => ({
    replicas: 3,
    applications: 3,
    users: people,
    env: { SVC_COMMS_PUBLISH_RATE: String(limit.rate), SVC_COMMS_PUBLISH_BURST: String(limit.burst) },
  }),
  schedule: (random) => {
    const atMs = Math.round(3_000 + 3_000 * random())
    return [
      { what: 'kill', target: 'redis', atMs },
      { what: 'start', target: 'redis', atMs: Math.round(atMs + downMs + 2_000 * random()) },
    ]
  },
  limitSeconds: 180,
  observe,
  judge,
  timeline: (observed) => redisTimeline(observed, 'Redis is away'),
  mutants: [
    refusedEmit('emit_refused'),
    lostAtHome(),
    hintTwice(),
    neverResumed(),
    lossyHints(),
    unready(),
    {
      name: 'losses are not counted',
      breaks: 'uncounted',
      plant: (observed) => ({ ...observed, counted: 0 }),
    },
    {
      name: 'what arrives is counted as lost',
      breaks: 'counted_for_nothing',
      plant: (observed) => ({ ...observed, counted: observed.counted + observed.sent.length }),
    },
    {
      name: 'without Redis nothing is limited',
      breaks: 'limited',
      plant: (observed) => ({ ...observed, flood: { ...observed.flood, limited: 0 } }),
    },
  ],
})
