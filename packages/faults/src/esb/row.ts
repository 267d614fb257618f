// A row about calls of the ESB: what it does meanwhile, and what must hold besides that which always must.
import type { BaseSetup, RowOptions } from '../base.ts'
import { type Mutant, type Row, playedOn } from '../row.ts'
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
  /** What this row adds to the figures of all. */
  judge: (figures: Figures, observed: O) => void
  mutants: readonly Mutant<O>[]
}

const firstAnswered = ({ calls }: CallHistory): CallRecord =>
  calls.find(({ isOfPartner, isWhole }) => isOfPartner && isWhole) as CallRecord

const always: readonly Mutant<EsbObserved>[] = [
  {
    name: 'a call is answered before its row is committed',
    breaks: 'answered_without_row',
    plant: (observed) => {
      const { key } = firstAnswered(observed)
      return { ...observed, rows: observed.rows.filter(({ requestId }) => requestId !== key) }
    },
  },
  {
    name: 'a row tells another status than the caller got',
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
    name: 'a call is forwarded and not in the log',
    breaks: 'forwarded_without_row',
    plant: (observed) => ({ ...observed, hits: [...observed.hits, 'nobody-logged-it'] }),
  },
  {
    name: 'a call is forwarded twice',
    breaks: 'forwarded_twice',
    plant: (observed) => ({ ...observed, hits: [...observed.hits, ...observed.hits.slice(0, 1)] }),
  },
  {
    name: 'a 503 does not say when to come again',
    breaks: 'no_retry_after',
    plant: (observed) => ({
      ...observed,
      calls: [...observed.calls, { ...firstAnswered(observed), status: 503, isOfPartner: false }],
    }),
  },
  { name: 'a replica ends', breaks: 'crash', plant: (observed) => ({ ...observed, ended: ['replica-1'] }) },
]

/** A row that can be played. */
export const defineEsbRow = <O extends EsbObserved>(definition: EsbDefinition<O>): Row =>
  playedOn<O, EsbStage, BaseSetup>(openEsbStage, {
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
