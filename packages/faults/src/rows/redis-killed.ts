// F12: Redis is killed. Notifications are accepted as before, and replicas stay ready and apply limits
// locally. Hints, which are best-effort messages, still reach the sockets of the sending replica. Hints that
// do not reach other replicas are counted. Delivery resumes after the restart.
import { pause } from '../children.ts'
import { hintTwice } from '../comms-mutants.ts'
import { type Flood, flood } from '../hint-load.ts'
import { defineLostRedis } from '../lost-redis.ts'
import { waitForStep, stepOf } from '../schedule.ts'
import type { createVerdict } from '../verdict.ts'
import { mutant } from '../plant.ts'

const rates = { emits: 30, publishes: 15 }
// The default limits of the service.
const limit = { rate: 50, burst: 200 }
const floodSize = 600
const shareUncounted = 0.05
// The outage is long enough that replicas detect the loss of Redis and are flooded before Redis restarts.
const downMs = 8_000

/**
 * Checks that a replica without Redis applies the limit locally: it accepts at most one burst and sends Retry-After.
 */
function judgeLimit(
  figures: ReturnType<typeof createVerdict>,
  { accepted, limited, ms, ...rest }: Flood,
): void {
  figures.atLeast('limited', limited, 1)
  figures.atMost('accepted', accepted, limit.burst + (limit.rate * ms) / 1_000 + 1)
  figures.atMost('wrong_rejections', rest.withoutRetryAfter + rest.other, 0)
}

export const f12 = defineLostRedis<{ flood: Flood }>({
  id: 'F12',
  title: 'kill -9 of Redis during emits and publishes, with sockets on three replicas',
  setup: {
    applications: 3,
    env: { SVC_COMMS_PUBLISH_RATE: String(limit.rate), SVC_COMMS_PUBLISH_BURST: String(limit.burst) },
  },
  schedule: (random) => {
    const atMs = Math.round(3_000 + 3_000 * random())
    return [
      { what: 'kill', target: 'redis', atMs },
      { what: 'start', target: 'redis', atMs: Math.round(atMs + downMs + 2_000 * random()) },
    ]
  },
  rates,
  // The last application has no sockets; it is used to test the rate limit for publishing.
  audience: (world) => ({ ...world, applicationIds: world.applicationIds.slice(0, -1) }),
  injectFault: async ({ cluster, world, calls, replicas, log }, schedule) => {
    const startedAt = Date.now()
    await waitForStep(stepOf(schedule, 'kill'), startedAt)
    log('killing Redis')
    const brokenAt = Date.now()
    await cluster.applyFault('redis SIGKILL')
    await pause(3_000)
    const flooding = await flood(calls, {
      url: replicas[0]?.url ?? '',
      applicationId: world.applicationIds.at(-1) as string,
      count: floodSize,
    })
    await waitForStep(stepOf(schedule, 'start'), startedAt)
    log('starting Redis')
    await cluster.applyFault('redis start')
    return { brokenAt, healedAt: Date.now(), readExtra: () => ({ flood: flooding }) }
  },
  outage: 'Redis is down',
  judge: (figures, { counted, flood: flooding }, missed) => {
    // The application of the flood has no sockets, but its hints were lost too. At the start and the end of the
    // outage, losses go unnoticed for about 1 s.
    const lost = missed + flooding.accepted
    const unnoticed = shareUncounted * lost + rates.emits + rates.publishes
    figures.atMost('uncounted', Math.max(0, lost - counted), unnoticed)
    figures.atMost('overcounted', Math.max(0, counted - lost), shareUncounted * lost)
    judgeLimit(figures, flooding)
  },
  mutants: [
    hintTwice(),
    mutant('losses are not counted', 'uncounted', () => ({ counted: 0 })),
    mutant('hints that arrive are counted as lost', 'overcounted', (observed) => ({
      counted: observed.counted + observed.sent.length,
    })),
    mutant('no publish is limited without Redis', 'limited', (observed) => ({
      flood: { ...observed.flood, limited: 0 },
    })),
  ],
})
