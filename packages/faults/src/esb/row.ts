// Defines a scenario with ESB calls: its fault, and the bounds that it adds to the common ones.
import type { BaseSetup, RowOptions } from '../base.ts'
import { type Mutant, type Row, createRow } from '../row.ts'
import type { MakeSchedule, Schedule } from '../schedule.ts'
import { createVerdict } from '../verdict.ts'
import type { CallRecord } from './caller.ts'
import {
  type CallHistory,
  type EsbObserved,
  checkAnswered,
  checkForwarded,
  checkForwardedOnce,
  withoutRetryAfter,
} from './checkers.ts'
import { type EsbStage, openEsbStage } from './stage.ts'

type Figures = ReturnType<typeof createVerdict>
type EsbDefinition<O extends EsbObserved> = {
  id: string
  title: string
  schedule?: MakeSchedule
  setup: (options: RowOptions) => BaseSetup
  limitSeconds: number
  observe: (stage: EsbStage, schedule: Schedule) => Promise<O>
  /** Adds the figures that only this scenario has. */
  judge: (figures: Figures, observed: O) => void
  mutants: readonly Mutant<O>[]
}

const firstAnswered = ({ calls }: CallHistory): CallRecord =>
  calls.find(({ isFromPartner, isComplete }) => isFromPartner && isComplete) as CallRecord

const always: readonly Mutant<EsbObserved>[] = [
  {
    name: 'a response is sent before its row is committed',
    breaks: 'answered_without_row',
    plant: (observed) => {
      const { key } = firstAnswered(observed)
      return { ...observed, rows: observed.rows.filter(({ requestId }) => requestId !== key) }
    },
  },
  {
    name: 'a row has a different status than the caller received',
    breaks: 'answered_without_row',
    plant: (observed) => {
      const { key } = firstAnswered(observed)
      return {
        ...observed,
        rows: observed.rows.map((row) => (row.requestId === key ? { ...row, status: 502 } : row)),
      }
    },
  },
  {
    name: 'a forwarded call is not in the log',
    breaks: 'forwarded_without_row',
    plant: (observed) => ({ ...observed, hits: [...observed.hits, 'not-logged'] }),
  },
  {
    name: 'a call is forwarded twice',
    breaks: 'forwarded_twice',
    plant: (observed) => ({ ...observed, hits: [...observed.hits, ...observed.hits.slice(0, 1)] }),
  },
  {
    name: 'a 503 has no Retry-After',
    breaks: 'no_retry_after',
    plant: (observed) => ({
      ...observed,
      calls: [...observed.calls, { ...firstAnswered(observed), status: 503, isFromPartner: false }],
    }),
  },
  { name: 'a replica exits', breaks: 'crash', plant: (observed) => ({ ...observed, ended: ['replica-1'] }) },
]

/** Creates a scenario from its definition and adds the common figures and mutants. */
export const defineEsbRow = <O extends EsbObserved>(definition: EsbDefinition<O>): Row =>
  createRow<O, EsbStage, BaseSetup>(openEsbStage, {
    ...definition,
    judge: (observed) => {
      const figures = createVerdict()
      figures.none('answered_without_row', checkAnswered(observed))
      figures.none('forwarded_without_row', checkForwarded(observed))
      figures.none('forwarded_twice', checkForwardedOnce(observed))
      figures.none('no_retry_after', withoutRetryAfter(observed.calls))
      figures.none('crash', observed.ended)
      definition.judge(figures, observed)
      return figures.verdict
    },
    mutants: [
      ...always.map(({ name, breaks, plant }): Mutant<O> => ({
        name,
        breaks,
        plant: (observed) => ({ ...observed, ...plant(observed) }),
      })),
      ...definition.mutants,
    ],
  })
