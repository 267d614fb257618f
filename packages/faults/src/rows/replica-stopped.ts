// F03: a replica is stopped for longer than its claims last, and wakes up. What others have finished meanwhile stays as it
// is, whatever the sleeper reports of it.
import { checkFenced } from '../checkers.ts'
import { pause } from '../children.ts'
import { readHeldJobs } from '../held.ts'
import { defineLostReplica, replicas } from '../lost-replica.ts'
import { pick } from '../random.ts'
import { type Run, readRuns } from '../recorder.ts'
import { bySize, reach, stepOf, targetOf } from '../schedule.ts'
import type { Stage } from '../stage.ts'
import { mutant } from '../plant.ts'

type Seen = {
  /** The runs as they were when the replica woke up. */
  before: Run[]
  fenced: number
  stoppedAt: number
  wokenAt: number
  ended: string[]
}

// A claim lasts for some ten seconds.
const sizeOf = (options: Stage['options']) =>
  bySize(
    options,
    { perSecond: 100, spreadMs: 80_000, stopMs: 60_000 },
    { perSecond: 50, spreadMs: 50_000, stopMs: 35_000 },
  )
// The sleeper touches its claims every few seconds, and reports what it had in its hands at once.
const wakeMs = 12_000

export const f03 = defineLostReplica<Seen>({
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
  limitSeconds: 400,
  // Some thirty attempts are in flight in each replica then.
  answerMs: 1_000,
  leadMs: 3_000,
  runs: (options) => {
    const { perSecond, spreadMs } = sizeOf(options)
    return { count: (perSecond * spreadMs) / 1_000, spreadMs }
  },
  drainMs: 120_000,
  harm: async (stage, schedule, { dueAt }) => {
    const [stop, wake] = [stepOf(schedule, 'stop'), stepOf(schedule, 'wake')]
    const sleeper = targetOf(stage.replicas, stop)
    await reach(stop, dueAt)
    stage.say(`stopping ${sleeper.name} for ${(wake.atMs - stop.atMs) / 1_000} s`)
    const stoppedAt = Date.now()
    sleeper.signal('SIGSTOP')
    const jobs = await readHeldJobs(stage)
    await reach(wake, dueAt)
    const before = await readRuns(stage.cluster.sql)
    stage.say(`waking ${sleeper.name}`)
    const wokenAt = Date.now()
    sleeper.signal('SIGCONT')
    await pause(wakeMs)
    return {
      jobs,
      look: async () => ({
        before,
        stoppedAt,
        wokenAt,
        fenced: sleeper.isAlive() ? await sleeper.metric('svc_jobs_total', { outcome: 'lost' }) : 0,
        ended: stage.replicas.filter((replica) => !replica.isAlive()).map(({ name }) => name),
      }),
    }
  },
  judge: (figures, { before, runs, fenced, ended }) => {
    figures.none('stale_writes', checkFenced(before, runs))
    figures.show('fenced', fenced)
    figures.none('exits', ended)
  },
  spans: ({ stoppedAt, wokenAt }) => [{ at: stoppedAt, until: wokenAt, name: 'one replica stopped' }],
  mutants: [
    mutant('the sleeper completes a run that was taken over', 'stale_writes', (observed) => {
      const zombie = observed.before.find(({ finishedAt }) => finishedAt !== null) as Run
      const finishedAt = Date.now()
      return {
        runs: observed.runs.map((run) => (run.id === zombie.id ? { ...run, finishedAt } : run)),
      }
    }),
  ],
})
