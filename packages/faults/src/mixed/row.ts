// Defines a scenario under the mixed load: its fault, and the bounds that it adds to the common ones.
import type { RowOptions } from '../base.ts'
import { type Mutant, type Row, createRow } from '../row.ts'
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
  /** Adds the figures that only this scenario has. */
  judge: (figures: Figures, observed: O) => void
  mutants: readonly Mutant<O>[]
}

/** Creates a scenario from its definition and adds the common figures and mutants. */
export const defineMixedRow = <O extends MixedObserved>(definition: MixedDefinition<O>): Row =>
  createRow<O, MixedStage, MixedSetup>(openMixedStage, {
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
