// F03: a replica is stopped for longer than its claims last, and wakes up. What others have finished meanwhile stays as it
// is, whatever the sleeper reports of it.
import { checkFenced, lagsOf } from '../checkers.ts'
import { pause } from '../children.ts'
import { readHeldJobs, runsOf } from '../held.ts'
import { judgeDrain, judgeFirings, judgeRedelivered } from '../judge.ts'
import {
  type History,
  doubleScheduling,
  lostDelivery,
  redelivery,
  redeliveryOfOthers,
  unstoredRun,
} from '../mutants.ts'
import { pick } from '../random.ts'
import { type Run, readRuns } from '../recorder.ts'
import { type Row, defineRow } from '../row.ts'
import { type Schedule, bySize, reach, stepOf, targetOf } from '../schedule.ts'
import { type Stage, drain } from '../stage.ts'
import { deliveriesTimeline } from '../timelines.ts'
import { createVerdict, lagsAt } from '../verdict.ts'
import { planTriggers, yearly } from '../world.ts'

type Observed = History & {
  /** The runs as they were when the replica woke up. */
  before: Run[]
  /** The runs that the sleeper had in its hands when it was stopped. */
  held: string[]
  fenced: number
  stoppedAt: number
  wokenAt: number
  ended: string[]
  drainSeconds: number | null
}

const replicas = 3
// A claim lasts for some ten seconds.
const sizeOf = (options: Stage['options']) =>
  bySize(
    options,
    { perSecond: 100, spreadMs: 80_000, stopMs: 60_000 },
    { perSecond: 50, spreadMs: 50_000, stopMs: 35_000 },
  )
// The sleeper touches its claims every few seconds, and reports what it had in its hands at once.
const wakeMs = 12_000

async function observe(stage: Stage, schedule: Schedule): Promise<Observed> {
  const { cluster, sink, world, say } = stage
  // With an answer after a second some thirty attempts are in flight in each replica.
  await sink.setMode([...Array(sink.size).keys()], 'ok:1000')
  const dueAt = Date.now() + 3_000
  const { perSecond, spreadMs } = sizeOf(stage.options)
  const count = stage.options.triggers ?? (perSecond * spreadMs) / 1_000
  const planned = await planTriggers(cluster.sql, world, { count, expression: yearly, dueAt, spreadMs })
  const [stop, wake] = [stepOf(schedule, 'stop'), stepOf(schedule, 'wake')]
  const sleeper = targetOf(stage.replicas, stop)
  await reach(stop, dueAt)
  say(`stopping ${sleeper.name} for ${(wake.atMs - stop.atMs) / 1_000} s`)
  const stoppedAt = Date.now()
  sleeper.signal('SIGSTOP')
  const jobs = await readHeldJobs(stage)
  await reach(wake, dueAt)
  const before = await readRuns(cluster.sql)
  say(`waking ${sleeper.name}`)
  const wokenAt = Date.now()
  sleeper.signal('SIGCONT')
  await pause(wakeMs)
  const drainSeconds = await drain(stage, { runs: planned.length, ms: 120_000 })
  const runs = await readRuns(cluster.sql)
  return {
    planned,
    runs,
    deliveries: await sink.deliveries(),
    before,
    stoppedAt,
    wokenAt,
    held: runsOf(jobs, runs).map(({ id }) => id),
    fenced: sleeper.isAlive() ? await sleeper.metric('svc_jobs_total', { outcome: 'lost' }) : 0,
    ended: stage.replicas.filter((replica) => !replica.isAlive()).map(({ name }) => name),
    drainSeconds,
  }
}

function judge(observed: Observed) {
  const figures = createVerdict()
  figures.none('stale_writes', checkFenced(observed.before, observed.runs))
  judgeFirings(figures, observed)
  figures.atLeast('held', observed.held.length, 1)
  judgeRedelivered(figures, observed)
  figures.show('fenced', observed.fenced)
  figures.none('exits', observed.ended)
  figures.show('lag_ms', lagsAt(lagsOf(observed.deliveries)))
  judgeDrain(figures, observed.drainSeconds)
  return figures.verdict
}

export const f03: Row = defineRow<Observed>({
  id: 'F03',
  title: 'SIGSTOP one of three replicas for 60 s at 100 runs per second, then SIGCONT',
  schedule: (random, options) => {
    const target = pick(random, replicas)
    const atMs = Math.round(4_000 + 3_000 * random())
    return [
      { what: 'stop', target, atMs },
      { what: 'wake', target, atMs: atMs + sizeOf(options).stopMs },
    ]
  },
  setup: () => ({ destinations: 100, replicas }),
  limitSeconds: 400,
  observe,
  judge,
  timeline: ({ deliveries, stoppedAt, wokenAt }) =>
    deliveriesTimeline(deliveries, [{ at: stoppedAt, until: wokenAt, name: 'one replica stopped' }]),
  mutants: [
    {
      name: 'the sleeper completes a run that was taken over',
      breaks: 'stale_writes',
      plant: (observed) => {
        const zombie = observed.before.find(({ finishedAt }) => finishedAt !== null) as Run
        const finishedAt = Date.now()
        return {
          ...observed,
          runs: observed.runs.map((run) => (run.id === zombie.id ? { ...run, finishedAt } : run)),
        }
      },
    },
    lostDelivery(),
    doubleScheduling(),
    unstoredRun(),
    redelivery(({ held }) => held.length),
    redeliveryOfOthers(({ held }) => held),
  ],
})
