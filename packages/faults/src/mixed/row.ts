// A row under the mixed load: what it does meanwhile, and what must hold besides that which always must.
import type { RowOptions } from '../base.ts'
import { type Mutant, type Row, playedOn } from '../row.ts'
import type { MakeSchedule, Schedule } from '../schedule.ts'
import { operationsTimeline } from '../timelines.ts'
import { createVerdict } from '../verdict.ts'
import type { FaultSpan, MixedHistory } from './history.ts'
import { type MixedRules, judgeMixed } from './judge.ts'
import { mixedMutants } from './mutants.ts'
import { type MixedSetup, type MixedStage, openMixedStage } from './stage.ts'

export type MixedObserved = MixedHistory & { faults: FaultSpan[] }
type Figures = ReturnType<typeof createVerdict>
type MixedDefinition<O extends MixedObserved> = {
  id: string
  title: string
  schedule?: MakeSchedule
  setup: (options: RowOptions, schedule: Schedule) => MixedSetup
  limitSeconds: number
  rules?: MixedRules
  observe: (stage: MixedStage, schedule: Schedule) => Promise<O>
  /** What this row adds to the figures of all. */
  judge: (figures: Figures, observed: O) => void
  mutants: readonly Mutant<O>[]
}

/** A row that can be played. */
export const defineMixedRow = <O extends MixedObserved>(definition: MixedDefinition<O>): Row =>
  playedOn<O, MixedStage, MixedSetup>(openMixedStage, {
    ...definition,
    judge: (observed) => {
      const figures = createVerdict()
      judgeMixed(figures, observed, definition.rules)
      definition.judge(figures, observed)
      return figures.verdict
    },
    mutants: [...mixedMutants<O>(), ...definition.mutants],
    timeline: ({ operations, faults }) => operationsTimeline(operations, faults),
  })
