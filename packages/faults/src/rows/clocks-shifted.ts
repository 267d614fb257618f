// F28: the replicas' clocks differ widely. Triggers use the database clock: each instant fires once, and
// every replica sends correct times to the backends.
import { readFileSync } from 'node:fs'
import { checkInstants, checkOrder, lagsOf } from '../checkers.ts'
import { pause } from '../children.ts'
import { judgeDrain, judgeFirings } from '../judge.ts'
import { type History, doubleScheduling, lostRun, overtaking, shiftedInstant } from '../mutants.ts'
import { shuffle } from '../random.ts'
import { readRuns } from '../recorder.ts'
import { type Row, defineRow } from '../row.ts'
import { type Stage, drain } from '../stage.ts'
import { deliveriesTimeline } from '../timelines.ts'
import { createVerdict, lagsAt } from '../verdict.ts'
import { endTriggers, minuteAfter, minuteMs, planTriggers } from '../world.ts'
import { mutant } from '../plant.ts'

type Observed = History & {
  drainSeconds: number | null
  /** The offset from the database clock, as measured by each replica. */
  skewsMs: number[]
  /** Number of attempts per replica. */
  attempts: number[]
}

const shiftMs = 10 * minuteMs
const instants = 2
// Receivers reject signatures that are minutes old.
const maxSkewMs = minuteMs

async function observe(stage: Stage): Promise<Observed> {
  const { cluster, sink, world, log } = stage
  const dueAt = minuteAfter(8_000)
  const count = stage.options.triggers ?? 1_000
  const first = await planTriggers(cluster.sql, world, { count, expression: '* * * * *', dueAt })
  const planned = first.flatMap((one) =>
    Array.from({ length: instants }, (_, index) => ({ ...one, scheduledAt: dueAt + index * minuteMs })),
  )
  log(`the first instant is in ${Math.round((dueAt - Date.now()) / 1_000)} s`)
  await pause(dueAt + (instants - 1) * minuteMs - Date.now() + 1_000)
  const drainSeconds = await drain(stage, { runs: planned.length, ms: 40_000 })
  await endTriggers(cluster.sql)
  return {
    planned,
    runs: await readRuns(cluster.sql),
    deliveries: await sink.deliveries(),
    drainSeconds,
    skewsMs: stage.replicas.map(({ logFile }) =>
      Number(/"skew_ms":(-?\d+)/.exec(readFileSync(logFile, 'utf8'))?.[1] ?? 0),
    ),
    attempts: await Promise.all(
      stage.replicas.map((replica) => replica.metric('svc_trigger_attempts_total')),
    ),
  }
}

function judge(observed: Observed) {
  const figures = createVerdict()
  const { runs, deliveries } = observed
  judgeFirings(figures, observed)
  // The clocks must differ, and every replica must have made attempts. Otherwise, no shifted clock was tested.
  figures.atLeast(
    'clocks_apart_s',
    (Math.max(...observed.skewsMs) - Math.min(...observed.skewsMs)) / 1_000,
    1_190,
  )
  figures.atLeast('min_attempts', Math.min(...observed.attempts), 1)
  figures.none(
    'instants',
    checkInstants(runs, deliveries, (at) => at % minuteMs === 0),
  )
  figures.none('order', checkOrder(runs, deliveries))
  const skews = deliveries.flatMap(({ at, stampedAt, executedAt }) => [
    Math.abs(at - stampedAt),
    Math.abs(at - executedAt),
  ])
  figures.atMost('stamp_skew_ms', Math.max(0, ...skews), maxSkewMs)
  figures.show('lag_ms', lagsAt(lagsOf(deliveries)))
  judgeDrain(figures, observed.drainSeconds)
  return figures.verdict
}

export const f28: Row = defineRow<Observed>({
  id: 'F28',
  title: 'of three replicas, one clock is ten minutes ahead and one is ten minutes behind',
  schedule: (random) =>
    shuffle(random, [0, shiftMs, -shiftMs]).map((target, index) => ({
      what: `shift the clock of replica ${index + 1}`,
      target,
      atMs: 0,
    })),
  setup: (_options, schedule) => ({
    destinations: 50,
    replicas: 3,
    clockShiftsMs: schedule.map(({ target }) => Number(target)),
  }),
  limitSeconds: 300,
  observe,
  judge,
  timeline: ({ deliveries }) => deliveriesTimeline(deliveries, []),
  mutants: [
    lostRun(),
    doubleScheduling(),
    shiftedInstant(),
    overtaking(),
    mutant('the clocks agree', 'clocks_apart_s', (observed) => ({ skewsMs: observed.skewsMs.map(() => 0) })),
    mutant('a replica signs with its own clock', 'stamp_skew_ms', (observed) => ({
      deliveries: observed.deliveries.map((sent, index) =>
        index === 0 ? { ...sent, stampedAt: sent.stampedAt + shiftMs } : sent,
      ),
    })),
  ],
})
