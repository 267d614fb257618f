// Template for scenarios that lose Redis while backends emit and publish, with sockets at three replicas. The
// scenarios differ in their fault, their rates and their additional bounds.
import { pause } from './children.ts'
import { lossyHints, lostAtSendingReplica, neverResumed, refusedEmit, unready } from './comms-mutants.ts'
import { type CommsSetup, type CommsStage, watchReadiness } from './comms-stage.ts'
import type { CommsWorld } from './comms-world.ts'
import { type BrokenRedis, judgeHints, judgeService, watchMs } from './hint-judge.ts'
import { drainHints, openSockets, startHintLoad, sumOf } from './hint-load.ts'
import { type Mutant, type Row, defineCommsRow } from './row.ts'
import type { MakeSchedule, Schedule } from './schedule.ts'
import { redisTimeline } from './timelines.ts'
import { createVerdict } from './verdict.ts'

type Figures = ReturnType<typeof createVerdict>
type LostRedis<Extra> = {
  id: string
  title: string
  setup: Partial<CommsSetup> & { applications: number }
  schedule: MakeSchedule
  rates: { emits: number; publishes: number }
  /** Selects the users and applications that have sockets. Defaults to all users and applications. */
  audience?: (world: CommsWorld) => CommsWorld
  /**
   * Breaks Redis. Returns the time of the fault, the earliest expected time of hint delivery, and a function
   * that reads the rest of the record.
   */
  injectFault: (
    stage: CommsStage,
    schedule: Schedule,
  ) => Promise<{ brokenAt: number; healedAt: number; readExtra: () => Extra | Promise<Extra> }>
  /** `missed` is the number of hints (best-effort messages) that did not reach other replicas' sockets. */
  judge: (figures: Figures, observed: BrokenRedis & Extra, missed: number) => void
  /** Label of the outage in the timeline. */
  outage: string
  mutants: readonly Mutant<BrokenRedis & Extra>[]
}

async function observe<Extra>(row: LostRedis<Extra>, stage: CommsStage, schedule: Schedule) {
  const owners = await openSockets(stage, row.audience?.(stage.world) ?? stage.world)
  const endWatch = watchReadiness(stage.replicas)
  const before = await sumOf(stage, 'svc_hints_lost_total')
  const endLoad = startHintLoad(stage, owners, row.rates)
  const { brokenAt, healedAt, readExtra } = await row.injectFault(stage, schedule)
  await pause(watchMs)
  const record = await endLoad()
  const drainSeconds = await drainHints(stage)
  const observed: BrokenRedis = {
    ...record,
    drainSeconds,
    replicaOfSocket: owners.map(({ replica }) => replica),
    arrivals: await stage.sockets.arrivals(),
    brokenAt,
    healedAt,
    samples: await endWatch(),
    counted: (await sumOf(stage, 'svc_hints_lost_total')) - before,
  }
  return { ...(await readExtra()), ...observed }
}

export const defineLostRedis = <Extra>(row: LostRedis<Extra>): Row =>
  defineCommsRow<BrokenRedis & Extra>({
    id: row.id,
    title: row.title,
    setup: () => ({ replicas: 3, users: 20, ...row.setup }),
    schedule: row.schedule,
    limitSeconds: 180,
    observe: (stage, schedule) => observe(row, stage, schedule),
    judge: (observed) => {
      const figures = createVerdict()
      judgeService(figures, observed)
      const missed = judgeHints(figures, observed)
      row.judge(figures, observed, missed)
      return figures.verdict
    },
    timeline: (observed) => redisTimeline(observed, row.outage),
    mutants: [
      refusedEmit('emit_refused'),
      lostAtSendingReplica(),
      neverResumed(),
      lossyHints(),
      unready(),
      ...row.mutants,
    ],
  })
