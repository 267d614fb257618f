// F29: all replicas were down for longer than the period in which missed runs are caught up. After the restart, the
// latest missed instant of a trigger fires once if it is recent enough. All other instants are recorded as missed, and
// the backends are not flooded.
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

/** Backdates the recorded heartbeats, as if the service had received none during the downtime. */
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

/**
 * Adds triggers that are due every `everyMinutes` minutes. Returns the past due times that must cause a run, and the
 * past due times that count as missed.
 */
async function planMissed(
  stage: Stage,
  { count, everyMinutes, now }: { count: number; everyMinutes: number; now: number },
) {
  const periodMs = everyMinutes * minuteMs
  const dueAt = Math.ceil((now - downMs) / periodMs) * periodMs
  const planned = await planTriggers(stage.cluster.sql, stage.world, {
    count,
    expression: everyMinutes === 1 ? '* * * * *' : `*/${everyMinutes} * * * *`,
    dueAt,
  })
  const latest = Math.floor(now / periodMs) * periodMs
  const past = planned.flatMap((one) =>
    Array.from({ length: (latest - dueAt) / periodMs + 1 }, (_, index) => ({
      ...one,
      scheduledAt: dueAt + index * periodMs,
    })),
  )
  return splitByOutcome(past, (one) => one.scheduledAt === latest)
}

/** Adds triggers whose only due time is too old to be caught up. */
async function planExpired(stage: Stage, count: number, now: number) {
  const dueAt = Math.ceil((now - downMs) / minuteMs) * minuteMs
  const at = new Date(dueAt)
  const expression = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`
  const planned = await planTriggers(stage.cluster.sql, stage.world, { count, expression, dueAt })
  return splitByOutcome(planned, () => now - dueAt < toleranceMs)
}

const splitByOutcome = (instants: Planned[], fires: (one: Planned) => boolean) => ({
  planned: instants.filter((one) => fires(one)),
  missed: instants.filter((one) => !fires(one)),
})

async function observe(stage: Stage): Promise<Observed> {
  const { cluster, sink, log } = stage
  stage.world.stopHeartbeats()
  await Promise.all(stage.replicas.map((replica) => replica.end()))
  // Starts early in a minute, so that the next due time is after the end of the scenario.
  const intoMinute = Date.now() % minuteMs
  if (intoMinute > 8_000) {
    log(`waiting ${Math.round((minuteMs - intoMinute) / 1_000)} s for the next minute`)
    await pause(minuteMs - intoMinute + 500)
  }
  await pretendDowntime(stage)
  const now = Date.now()
  const count = stage.options.triggers ?? bySize(stage.options, 5_000, 1_000)
  const groups = [
    await planMissed(stage, { count, everyMinutes: 1, now }),
    await planMissed(stage, { count: 100, everyMinutes: 5, now }),
    await planExpired(stage, 100, now),
  ]
  const [planned, missed] = [
    groups.flatMap((group) => group.planned),
    groups.flatMap((group) => group.missed),
  ]
  log('starting one replica after the downtime')
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
  const byOutcome = Map.groupBy(runs, ({ outcome }) => outcome)
  const fired = byOutcome.get('delivered') ?? []
  const firing = checkSet({ ok: planned.map(keyOf), stored: fired.map(keyOf) })
  const missing = checkSet({ ok: missed.map(keyOf), stored: (byOutcome.get('missed') ?? []).map(keyOf) })
  figures.none('lost', [...firing.missing, ...checkDelivered(fired, deliveries)])
  const firedIds = new Set(fired.map(({ id }) => id))
  const unexpectedlySent = deliveries.filter(({ runId }) => !firedIds.has(runId))
  figures.none('fired_too_often', [...firing.unexpected, ...unexpectedlySent.map(({ runId }) => runId)])
  figures.none('not_recorded_missed', [...missing.missing, ...missing.unexpected])
  figures.none('dup_sched', checkOnce(runs, deliveries))
  figures.show('catchup_fired', fired.length)
  figures.show('missed', byOutcome.get('missed')?.length ?? 0)
  figures.show('peak_per_s', peakPerSecond(deliveries.map(({ at }) => at)))
  judgeDrain(figures, drainSeconds)
  return figures.verdict
}

/** Changes the outcome of the first run with the outcome `from`. */
const changeOne = (observed: Observed, from: string, to: string): Observed => {
  const one = observed.runs.find(({ outcome }) => outcome === from) as Run
  return { ...observed, runs: observed.runs.map((run) => (run === one ? { ...run, outcome: to } : run)) }
}

export const f29: Row = defineRow<Observed>({
  id: 'F29',
  title: 'all replicas were down for 12 minutes, then one starts',
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
