// Redis is lost while backends emit and publish, with sockets on three replicas. Rows differ in how it is lost, at which
// rates, and in what must hold besides.
import { pause } from './children.ts'
import { lossyHints, lostAtHome, neverResumed, refusedEmit, unready } from './comms-mutants.ts'
import { type CommsSetup, type CommsStage, watchReadiness } from './comms-stage.ts'
import type { CommsWorld } from './comms-world.ts'
import { type HarmedRedis, judgeHints, judgeService, watchMs } from './hint-judge.ts'
import { drainHints, openEverywhere, startHintLoad, sumOf } from './hint-load.ts'
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
  /** The part of the world that has sockets, if not all of it. */
  audience?: (world: CommsWorld) => CommsWorld
  /** Harms Redis; returns when, from when on hints may be expected again, and a function that reads the rest in the end. */
  harm: (
    stage: CommsStage,
    schedule: Schedule,
  ) => Promise<{ harmedAt: number; healedAt: number; look: () => Extra | Promise<Extra> }>
  /** `missed`: how many hints did not reach sockets of other replicas. */
  judge: (figures: Figures, observed: HarmedRedis & Extra, missed: number) => void
  /** What the timeline says of the outage. */
  outage: string
  mutants: readonly Mutant<HarmedRedis & Extra>[]
}

async function observe<Extra>(row: LostRedis<Extra>, stage: CommsStage, schedule: Schedule) {
  const places = await openEverywhere(stage, row.audience?.(stage.world) ?? stage.world)
  const endWatch = watchReadiness(stage.replicas)
  const before = await sumOf(stage, 'svc_hints_lost_total')
  const endLoad = startHintLoad(stage, places, row.rates)
  const { harmedAt, healedAt, look } = await row.harm(stage, schedule)
  await pause(watchMs)
  const record = await endLoad()
  const drainSeconds = await drainHints(stage)
  const observed: HarmedRedis = {
    ...record,
    drainSeconds,
    heldBy: places.map(({ replica }) => replica),
    arrivals: await stage.sockets.arrivals(),
    harmedAt,
    healedAt,
    samples: await endWatch(),
    counted: (await sumOf(stage, 'svc_hints_lost_total')) - before,
  }
  return { ...(await look()), ...observed }
}

/** A row in which Redis is lost like this. */
export const defineLostRedis = <Extra>(row: LostRedis<Extra>): Row =>
  defineCommsRow<HarmedRedis & Extra>({
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
      lostAtHome(),
      neverResumed(),
      lossyHints(),
      unready(),
      ...row.mutants,
    ],
  })
