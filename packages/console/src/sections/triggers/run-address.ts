// The addresses of the runs of a trigger, and of one run.
import type { ListSearch } from '../../app/list-search.ts'

/** The page and the filters belong to one list only. */
const noPage = { page: undefined, after: undefined, outcome: undefined } as const

/** Opens the runs of a trigger. */
export const openRuns = (list: ListSearch, triggerId: string): void =>
  list.setOpen(triggerId, { ...noPage, view: 'runs', run: undefined })

/** Opens the details of a run, in the list of all runs. */
export const openRun = (list: ListSearch, triggerId: string, runId: string): void =>
  list.setOpen(triggerId, { ...noPage, view: 'runs', run: runId })

/** Opens the details of a run beside the list that is open; null closes them. */
export const showRun = (list: ListSearch, triggerId: string, runId: string | null): void =>
  list.setOpen(triggerId, { view: 'runs', run: runId ?? undefined })

/** Returns to the list of triggers, with the trigger open. */
export const closeRuns = (list: ListSearch, triggerId: string): void =>
  list.setOpen(triggerId, { ...noPage, view: undefined, run: undefined })
