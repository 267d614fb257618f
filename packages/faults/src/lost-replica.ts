// Template for scenarios that lose a replica while runs are due. The scenarios differ in their fault, their number of
// runs and their additional bounds.
import { lagsOf } from './checkers.ts'
import { runsOf } from './held.ts'
import { judgeDrain, judgeFirings, judgeRedelivered } from './judge.ts'
import {
  type History,
  doubleScheduling,
  lostDelivery,
  lostRun,
  redelivery,
  redeliveryOfOthers,
  unstoredRun,
} from './mutants.ts'
import { type Run, readRuns } from './recorder.ts'
import { type Mutant, type Row, defineRow } from './row.ts'
import type { MakeSchedule, Schedule } from './schedule.ts'
import { type ActiveJob, type Setup, type Stage, drain } from './stage.ts'
import { deliveriesTimeline } from './timelines.ts'
import type { Span } from './timeline.ts'
import { createVerdict, lagsAt } from './verdict.ts'
import { planTriggers, yearly } from './world.ts'

/** `held` contains each run once per attempt on a lost replica. */
export type Lost<Extra = object> = History & Extra & { held: string[]; drainSeconds: number | null }
type Figures = ReturnType<typeof createVerdict>
type Due = { dueAt: number; dueUntil: number }
type LostReplica<Extra> = {
  id: string
  title: string
  setup?: Partial<Setup>
  limitSeconds: number
  schedule: MakeSchedule
  /**
   * The response time of the backends. It must be long enough that every replica has attempts in flight at the time of
   * the fault.
   */
  responseMs: number
  /** Time between the creation of the triggers and the first due run. */
  leadMs: number
  runs: (options: Stage['options']) => { count: number; spreadMs: number }
  drainMs: number
  /**
   * Breaks replicas and waits. Returns the attempts that they had claimed, and a function that reads the rest of the
   * record.
   */
  injectFault: (
    stage: Stage,
    schedule: Schedule,
    due: Due,
  ) => Promise<{ jobs: readonly ActiveJob[]; readExtra: (held: readonly Run[]) => Promise<Extra> }>
  judge: (figures: Figures, observed: Lost<Extra>, lags: readonly number[]) => void
  mutants: readonly Mutant<Lost<Extra>>[]
  spans?: (observed: Lost<Extra>) => Span[]
}

export const replicas = 3

async function observe<Extra>(
  row: LostReplica<Extra>,
  stage: Stage,
  schedule: Schedule,
): Promise<Lost<Extra>> {
  const { cluster, sink, world, options } = stage
  await sink.setMode([...Array(sink.size).keys()], `ok:${row.responseMs}`)
  const dueAt = Date.now() + row.leadMs
  const { count, spreadMs } = row.runs(options)
  const plan = { count: options.triggers ?? count, expression: yearly, dueAt, spreadMs }
  const planned = await planTriggers(cluster.sql, world, plan)
  const { jobs, readExtra } = await row.injectFault(stage, schedule, { dueAt, dueUntil: dueAt + spreadMs })
  const drainSeconds = await drain(stage, { runs: planned.length, ms: row.drainMs })
  const runs = await readRuns(cluster.sql)
  // Several faults may report the same attempt.
  const attempts = [...new Map(jobs.map((job) => [`${job.id} ${job.claims}`, job])).values()]
  const held = attempts.flatMap((job) => runsOf([job], runs))
  const deliveries = await sink.deliveries()
  const history = { planned, runs, deliveries, held: held.map(({ id }) => id), drainSeconds }
  return { ...(await readExtra(held)), ...history }
}

export const defineLostReplica = <Extra>(row: LostReplica<Extra>): Row =>
  defineRow<Lost<Extra>>({
    id: row.id,
    title: row.title,
    schedule: row.schedule,
    setup: () => ({ destinations: 100, replicas, ...row.setup }),
    limitSeconds: row.limitSeconds,
    observe: (stage, schedule) => observe(row, stage, schedule),
    judge: (observed) => {
      const figures = createVerdict()
      const lags = lagsOf(observed.deliveries)
      judgeFirings(figures, observed)
      // If the lost replica had claimed no attempt, no other replica had to take one over, and the scenario fails.
      figures.atLeast('held', observed.held.length, 1)
      judgeRedelivered(figures, observed)
      row.judge(figures, observed, lags)
      figures.show('lag_ms', lagsAt(lags))
      judgeDrain(figures, observed.drainSeconds)
      return figures.verdict
    },
    mutants: [
      lostDelivery(),
      lostRun(),
      doubleScheduling(),
      unstoredRun(),
      redelivery(({ held }) => held.length),
      redeliveryOfOthers(({ held }) => held),
      ...row.mutants,
    ],
    ...(row.spans === undefined
      ? {}
      : { timeline: (observed) => deliveriesTimeline(observed.deliveries, row.spans?.(observed) ?? []) }),
  })
