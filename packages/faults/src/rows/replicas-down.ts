// F29: every replica was down for longer than a missed run is made up for. After the start the latest missed instant of a
// trigger fires once if it is young enough; all others are recorded as missed, and nothing floods the backends.
import { checkDelivered, checkOnce, checkSet } from '../checkers.ts'
import { pause } from '../children.ts'
import { judgeDrain } from '../judge.ts'
import { type History, doubleScheduling, lostDelivery } from '../mutants.ts'
import { type Planned, type Run, keyOf, readRuns } from '../recorder.ts'
import { type Row, defineRow } from '../row.ts'
import { bySize } from '../schedule.ts'
import { type Stage, drain } from '../stage.ts'
import { deliveriesTimeline } from '../timelines.ts'
import { createVerdict, peakPerSecond } from '../verdict.ts'
import { minuteMs, planTriggers } from '../world.ts'
import { mutant } from '../plant.ts'

type Observed = History & { missed: Planned[]; drainSeconds: number | null }

const downMs = 12 * minuteMs
const toleranceMs = 10 * minuteMs

/** Says that nothing ran for a while: nobody received heartbeats, and so none are newer. */
async function pretendDowntime({ cluster }: Stage): Promise<void> {
  const down = `${downMs} milliseconds`
  await cluster.sql.query(
    'update heartbeat_reception set received_until = now() - $1::interval, outage_from = now() - $1::interval, outage_until = now() - $1::interval',
    [down],
  )
  await cluster.sql.query(
    "update backend_registrations set last_heartbeat = now() - $1::interval - interval '5 seconds'",
    [down],
  )
}

/** Adds triggers of which each is due every so many minutes, and says what has to become of the instants until now. */
async function planMissed(
  stage: Stage,
  { count, everyMinutes, now }: { count: number; everyMinutes: number; now: number },
) {
  const everyMs = everyMinutes * minuteMs
  const dueAt = Math.ceil((now - downMs) / everyMs) * everyMs
  const planned = await planTriggers(stage.cluster.sql, stage.world, {
    count,
    expression: everyMinutes === 1 ? '* * * * *' : `*/${everyMinutes} * * * *`,
    dueAt,
  })
  const latest = Math.floor(now / everyMs) * everyMs
  const past = planned.flatMap((one) =>
    Array.from({ length: (latest - dueAt) / everyMs + 1 }, (_, index) => ({
      ...one,
      scheduledAt: dueAt + index * everyMs,
    })),
  )
  return splitByFate(past, (one) => one.scheduledAt === latest)
}

/** One that was due a single time, too long ago to be made up for. */
async function planTooLate(stage: Stage, count: number, now: number) {
  const dueAt = Math.ceil((now - downMs) / minuteMs) * minuteMs
  const at = new Date(dueAt)
  const expression = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`
  const planned = await planTriggers(stage.cluster.sql, stage.world, { count, expression, dueAt })
  return splitByFate(planned, () => now - dueAt < toleranceMs)
}

const splitByFate = (instants: Planned[], fires: (one: Planned) => boolean) => ({
  planned: instants.filter((one) => fires(one)),
  missed: instants.filter((one) => !fires(one)),
})

async function observe(stage: Stage): Promise<Observed> {
  const { cluster, sink, say } = stage
  stage.world.stopHeartbeats()
  await Promise.all(stage.replicas.map((replica) => replica.end()))
  // Early in a minute, so that the next instant comes when all of this is over.
  const intoMinute = Date.now() % minuteMs
  if (intoMinute > 8_000) {
    say(`waiting ${Math.round((minuteMs - intoMinute) / 1_000)} s for the next minute`)
    await pause(minuteMs - intoMinute + 500)
  }
  await pretendDowntime(stage)
  const now = Date.now()
  const count = stage.options.triggers ?? bySize(stage.options, 5_000, 1_000)
  const groups = [
    await planMissed(stage, { count, everyMinutes: 1, now }),
    await planMissed(stage, { count: 100, everyMinutes: 5, now }),
    await planTooLate(stage, 100, now),
  ]
  const [planned, missed] = [
    groups.flatMap((group) => group.planned),
    groups.flatMap((group) => group.missed),
  ]
  say('starting one replica after the downtime')
  await stage.startReplica()
  const scheduledUntil = Math.floor(now / minuteMs) * minuteMs
  const runs = planned.length + missed.length
  const drainSeconds = await drain(stage, { runs, ms: 120_000, scheduledUntil })
  const isPast = ({ scheduledAt }: { scheduledAt: number }): boolean => scheduledAt <= scheduledUntil
  return {
    planned,
    missed,
    runs: (await readRuns(cluster.sql)).filter(isPast),
    deliveries: (await sink.deliveries()).filter(isPast),
    drainSeconds,
  }
}

function judge({ planned, missed, runs, deliveries, drainSeconds }: Observed) {
  const figures = createVerdict()
  const byFate = Map.groupBy(runs, ({ outcome }) => outcome)
  const fired = byFate.get('delivered') ?? []
  const firing = checkSet({ ok: planned.map(keyOf), stored: fired.map(keyOf) })
  const missing = checkSet({ ok: missed.map(keyOf), stored: (byFate.get('missed') ?? []).map(keyOf) })
  figures.none('lost', [...firing.missing, ...checkDelivered(fired, deliveries)])
  const firedIds = new Set(fired.map(({ id }) => id))
  const sentForNothing = deliveries.filter(({ runId }) => !firedIds.has(runId))
  figures.none('fired_too_often', [...firing.unexpected, ...sentForNothing.map(({ runId }) => runId)])
  figures.none('not_recorded_missed', [...missing.missing, ...missing.unexpected])
  figures.none('dup_sched', checkOnce(runs, deliveries))
  figures.show('catchup_fired', fired.length)
  figures.show('missed', byFate.get('missed')?.length ?? 0)
  figures.show('peak_per_s', peakPerSecond(deliveries.map(({ at }) => at)))
  judgeDrain(figures, drainSeconds)
  return figures.verdict
}

/** Gives one of the runs that were missed, or that fired, another outcome. */
const changeOne = (observed: Observed, from: string, to: string): Observed => {
  const one = observed.runs.find(({ outcome }) => outcome === from) as Run
  return { ...observed, runs: observed.runs.map((run) => (run === one ? { ...run, outcome: to } : run)) }
}

export const f29: Row = defineRow<Observed>({
  id: 'F29',
  title: 'all replicas were down for twelve minutes, one starts',
  setup: () => ({ destinations: 100, replicas: 1 }),
  limitSeconds: 300,
  observe,
  judge,
  timeline: ({ deliveries }) => deliveriesTimeline(deliveries, []),
  mutants: [
    {
      ...lostDelivery<Observed>(),
      name: 'the latest missed instant never reaches its backend',
    },
    mutant('an older missed instant fires too', 'fired_too_often', (observed) =>
      changeOne(observed, 'missed', 'delivered'),
    ),
    mutant('the latest missed instant is recorded as missed', 'not_recorded_missed', (observed) =>
      changeOne(observed, 'delivered', 'missed'),
    ),
    doubleScheduling(),
  ],
})
