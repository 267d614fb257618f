// F12: Redis is killed. Notifications are accepted as before, replicas stay ready and limit by themselves, the sockets of
// the replica that sends get their hints; the hints that others do not get are counted, and flow again when it is back.
import { pause } from '../children.ts'
import { hintTwice } from '../comms-mutants.ts'
import { type Flood, flood } from '../hint-load.ts'
import { defineLostRedis } from '../lost-redis.ts'
import { reach, stepOf } from '../schedule.ts'
import type { createVerdict } from '../verdict.ts'
import { mutant } from '../plant.ts'

const rates = { emits: 30, publishes: 15 }
// The defaults, for the part about limits.
const limit = { rate: 50, burst: 200 }
const floodSize = 600
const shareUncounted = 0.05
// Replicas have noticed that Redis is away, and have been flooded, before it is back.
const downMs = 8_000

/** A replica without Redis limits by itself: at most what one bucket holds, and says when to come again. */
function judgeLimit(
  figures: ReturnType<typeof createVerdict>,
  { accepted, limited, ms, ...rest }: Flood,
): void {
  figures.atLeast('limited', limited, 1)
  figures.atMost('let_through', accepted, limit.burst + (limit.rate * ms) / 1_000 + 1)
  figures.atMost('limited_badly', rest.withoutRetryAfter + rest.other, 0)
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
  // The last application has no sockets; it is the one that is limited.
  audience: (world) => ({ ...world, applicationIds: world.applicationIds.slice(0, -1) }),
  harm: async ({ cluster, world, calls, replicas, say }, schedule) => {
    const startedAt = Date.now()
    await reach(stepOf(schedule, 'kill'), startedAt)
    say('killing Redis')
    const harmedAt = Date.now()
    await cluster.harm('redis SIGKILL')
    await pause(3_000)
    const flooding = await flood(calls, {
      url: replicas[0]?.url ?? '',
      applicationId: world.applicationIds.at(-1) as string,
      count: floodSize,
    })
    await reach(stepOf(schedule, 'start'), startedAt)
    say('starting Redis')
    await cluster.harm('redis start')
    return { harmedAt, healedAt: Date.now(), look: () => ({ flood: flooding }) }
  },
  outage: 'Redis is away',
  judge: (figures, { counted, flood: flooding }, missed) => {
    // Nobody looks at what flooded, but it was lost as well. Around both ends of the outage some are lost without notice:
    // for about a second.
    const lost = missed + flooding.accepted
    const unnoticed = shareUncounted * lost + rates.emits + rates.publishes
    figures.atMost('uncounted', Math.max(0, lost - counted), unnoticed)
    figures.atMost('counted_for_nothing', Math.max(0, counted - lost), shareUncounted * lost)
    judgeLimit(figures, flooding)
  },
  mutants: [
    hintTwice(),
    mutant('losses are not counted', 'uncounted', () => ({ counted: 0 })),
    mutant('what arrives is counted as lost', 'counted_for_nothing', (observed) => ({
      counted: observed.counted + observed.sent.length,
    })),
    mutant('without Redis nothing is limited', 'limited', (observed) => ({
      flood: { ...observed.flood, limited: 0 },
    })),
  ],
})
