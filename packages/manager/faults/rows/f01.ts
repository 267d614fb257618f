// F01: a replica is killed while runs fall due. Each is scheduled once and delivered; only what the dead one had in its
// hands may arrive twice, and others take it over soon.
import { checkSet, lagsOf } from '../checkers.ts'
import { pause } from '../children.ts'
import { readHeldJobs, runsOf } from '../held.ts'
import { judgeDrain, judgeFirings, judgeRedelivered } from '../judge.ts'
import {
  type History,
  doubleScheduling,
  lostDelivery,
  lostRun,
  redelivery,
  redeliveryOfOthers,
  unstoredRun,
} from '../mutants.ts'
import { pick } from '../random.ts'
import { keysOf, readRuns } from '../recorder.ts'
import { type Row, defineRow } from '../row.ts'
import { type Schedule, bySize, reach, stepOf, targetOf } from '../schedule.ts'
import { type Stage, drain } from '../stage.ts'
import { deliveriesTimeline } from '../timelines.ts'
import { createVerdict, lagsAt } from '../verdict.ts'
import { planTriggers, yearly } from '../world.ts'

type Observed = History & {
  killedAt: number
  /** The runs that the dead replica had in its hands, and when the last of them was finished. */
  held: string[]
  takenOverAt: number
  drainSeconds: number | null
  registered: string[]
  stored: string[]
}

const replicas = 3
const spreadMs = 10_000
const takeoverMs = 20_000

async function observe(stage: Stage, schedule: Schedule): Promise<Observed> {
  const { cluster, sink, world, say } = stage
  // An answer takes a second, so that every replica has attempts in its hands whenever the kill comes.
  await sink.setMode([...Array(sink.size).keys()], 'ok:1000')
  const dueAt = Date.now() + 4_000
  const count = stage.options.triggers ?? bySize(stage.options, 10_000, 2_000)
  const planned = await planTriggers(cluster.sql, world, { count, expression: yearly, dueAt, spreadMs })
  const kill = stepOf(schedule, 'kill')
  const victim = targetOf(stage.replicas, kill)
  await reach(kill, dueAt)
  say(`killing ${victim.name}`)
  const killedAt = Date.now()
  victim.signal('SIGKILL')
  const jobs = await readHeldJobs(stage)
  await pause(dueAt + spreadMs - Date.now())
  const drainSeconds = await drain(stage, { runs: planned.length, ms: 180_000 })
  const runs = await readRuns(cluster.sql)
  const held = runsOf(jobs, runs)
  const { rows } = await cluster.sql.query<{ id: string }>(
    'select application_id as id from backend_registrations',
  )
  return {
    planned,
    runs,
    deliveries: await sink.deliveries(),
    killedAt,
    held: held.map(({ id }) => id),
    takenOverAt: Math.max(killedAt, ...held.map(({ finishedAt }) => finishedAt ?? Infinity)),
    drainSeconds,
    registered: keysOf(world.recorder.operations, 'register', 'ok'),
    stored: rows.map(({ id }) => id),
  }
}

function judge(observed: Observed) {
  const figures = createVerdict()
  judgeFirings(figures, observed)
  // A kill that hits nothing shows nothing.
  figures.atLeast('held', observed.held.length, 1)
  judgeRedelivered(figures, observed)
  figures.recovery('takeover_ms', { ms: observed.takenOverAt - observed.killedAt, most: takeoverMs })
  const { missing } = checkSet({ ok: observed.registered, stored: observed.stored })
  figures.none('registrations_lost', missing)
  figures.show('lag_ms', lagsAt(lagsOf(observed.deliveries)))
  judgeDrain(figures, observed.drainSeconds)
  return figures.verdict
}

export const f01: Row = defineRow<Observed>({
  id: 'F01',
  title: 'kill -9 one of three replicas while 10,000 runs fall due within 10 s',
  schedule: (random) => [
    { what: 'kill', target: pick(random, replicas), atMs: Math.round(spreadMs * (0.3 + 0.4 * random())) },
  ],
  setup: () => ({ destinations: 100, replicas }),
  limitSeconds: 300,
  observe,
  judge,
  timeline: ({ deliveries, killedAt, takenOverAt }) =>
    deliveriesTimeline(deliveries, [{ at: killedAt, until: takenOverAt, name: 'killed, until taken over' }]),
  mutants: [
    lostDelivery(),
    lostRun(),
    doubleScheduling(),
    unstoredRun(),
    redelivery(({ held }) => held.length),
    redeliveryOfOthers(({ held }) => held),
    {
      name: 'a run of the dead replica is taken over too late',
      breaks: 'takeover_ms',
      plant: (observed) => ({ ...observed, takenOverAt: observed.killedAt + takeoverMs + 1 }),
    },
    {
      name: 'a registration is lost',
      breaks: 'registrations_lost',
      plant: (observed) => ({ ...observed, stored: observed.stored.slice(1) }),
    },
  ],
})
