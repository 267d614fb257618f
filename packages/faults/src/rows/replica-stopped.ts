// F03: a replica is frozen for longer than its claims last, then resumed. Runs that other replicas have finished do not
// change, whatever the resumed replica reports.
import { checkFenced } from '../checkers.ts'
import { pause } from '../children.ts'
import { readHeldJobs } from '../held.ts'
import { defineLostReplica, replicas } from '../lost-replica.ts'
import { pick } from '../random.ts'
import { type Run, readRuns } from '../recorder.ts'
import { bySize, waitForStep, stepOf, targetOf } from '../schedule.ts'
import type { Stage } from '../stage.ts'
import { mutant } from '../plant.ts'

type Seen = {
  /** The runs at the time the replica resumed. */
  before: Run[]
  fenced: number
  frozenAt: number
  resumedAt: number
  ended: string[]
}

// A claim lasts about 10 s.
const sizeOf = (options: Stage['options']) =>
  bySize(
    options,
    { perSecond: 100, spreadMs: 80_000, freezeMs: 60_000 },
    { perSecond: 50, spreadMs: 50_000, freezeMs: 35_000 },
  )
// The resumed replica renews its claims every few seconds, and immediately reports its outstanding attempts.
const observeMs = 12_000

export const f03 = defineLostReplica<Seen>({
  id: 'F03',
  title: 'SIGSTOP one of three replicas for 60 s at 100 runs per second, then SIGCONT',
  schedule: (random, options) => {
    const target = pick(random, replicas)
    const atMs = Math.round(4_000 + 3_000 * random())
    return [
      { what: 'freeze', target, atMs },
      { what: 'resume', target, atMs: atMs + sizeOf(options).freezeMs },
    ]
  },
  limitSeconds: 400,
  // With this response time, each replica has about 30 attempts in flight.
  responseMs: 1_000,
  leadMs: 3_000,
  runs: (options) => {
    const { perSecond, spreadMs } = sizeOf(options)
    return { count: (perSecond * spreadMs) / 1_000, spreadMs }
  },
  drainMs: 120_000,
  injectFault: async (stage, schedule, { dueAt }) => {
    const [freeze, resume] = [stepOf(schedule, 'freeze'), stepOf(schedule, 'resume')]
    const frozen = targetOf(stage.replicas, freeze)
    await waitForStep(freeze, dueAt)
    stage.log(`freezing ${frozen.name} for ${(resume.atMs - freeze.atMs) / 1_000} s`)
    const frozenAt = Date.now()
    frozen.signal('SIGSTOP')
    const jobs = await readHeldJobs(stage)
    await waitForStep(resume, dueAt)
    const before = await readRuns(stage.cluster.sql)
    stage.log(`resuming ${frozen.name}`)
    const resumedAt = Date.now()
    frozen.signal('SIGCONT')
    await pause(observeMs)
    return {
      jobs,
      readExtra: async () => ({
        before,
        frozenAt,
        resumedAt,
        fenced: frozen.isAlive() ? await frozen.metric('svc_jobs_total', { outcome: 'lost' }) : 0,
        ended: stage.replicas.filter((replica) => !replica.isAlive()).map(({ name }) => name),
      }),
    }
  },
  judge: (figures, { before, runs, fenced, ended }) => {
    figures.none('stale_writes', checkFenced(before, runs))
    figures.show('fenced', fenced)
    figures.none('exits', ended)
  },
  spans: ({ frozenAt, resumedAt }) => [{ at: frozenAt, until: resumedAt, name: 'one replica is frozen' }],
  mutants: [
    mutant('the resumed replica completes a run that was taken over', 'stale_writes', (observed) => {
      const zombie = observed.before.find(({ finishedAt }) => finishedAt !== null) as Run
      const finishedAt = Date.now()
      return {
        runs: observed.runs.map((run) => (run.id === zombie.id ? { ...run, finishedAt } : run)),
      }
    }),
  ],
})
