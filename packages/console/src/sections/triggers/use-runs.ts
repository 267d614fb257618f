// Reads the runs of a trigger: the newest ones, a page of the list, and a single run. Pending runs change, and new runs
// appear, so all of these reads are repeated while the page is visible. The total is not, because counting is slow.
import { useRead } from '../../api/requests.ts'
import { isUuid } from '../../app/ids.ts'
import { type CursorPages, getCursorPage, useCursorPages } from '../../app/cursor-pages.ts'
import { useEnvironment } from '../../app/environment.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import {
  type TriggerRunsAtResult,
  triggerNewestRunsDocument,
  triggerPersonDocument,
  triggerRunPageDocument,
  triggerRunSearchDocument,
  triggerRunTotalDocument,
  triggerRunsAtDocument,
} from '../../generated/documents.ts'
import { toOutcome } from './run-words.ts'
import type { Run } from './trigger-types.ts'

/** Enough for the timeline of four environments. */
const maxNewest = 60
const noRows: readonly Run[] = []

/** The newest runs of all environments, newest first. */
export function useNewestRuns(triggerId: string) {
  const { data, error, refetch } = useRead(
    triggerNewestRunsDocument,
    { trigger: triggerId, limit: maxNewest },
    { isLive: true },
  )
  return { runs: data?.triggerRuns, error, refetch: () => void refetch() }
}

export type RunPage = {
  readonly rows: readonly Run[]
  readonly isLoaded: boolean
  /** True while the rows are still those of the previous page or filter. */
  readonly isPlaceholder: boolean
  readonly isFiltered: boolean
  /** False if the Manager stopped searching before the page was full. */
  readonly isComplete: boolean
  readonly pages: CursorPages
  readonly hasNext: boolean
  readonly total: number
  readonly isTotalExact: boolean
  readonly error: Error | null
  readonly refetch: () => void
}

/** The page of runs that the address selects, newest first. */
export function useRunPage(list: ListSearch, triggerId: string): RunPage {
  const environment = useEnvironment()?.id ?? null
  const outcome = toOutcome(list.search['outcome'])
  const { page, after } = getCursorPage(list)
  const selection = { trigger: triggerId, environment, outcome }
  const { data, error, isPlaceholderData, refetch } = useRead(
    triggerRunPageDocument,
    { ...selection, pagination: { limit: list.size, offset: 0 }, after },
    { keepsPrevious: true, isLive: true },
  )
  const total = useRead(triggerRunTotalDocument, selection, { keepsPrevious: true })
  const result = data?.triggerRunsConnection
  // While a page loads, the result is still the previous page. Its end cursor is the cursor of the page that is loading.
  const pages = useCursorPages(list, isPlaceholderData ? undefined : result?.pageInfo.endCursor)
  const rows = result?.nodes ?? noRows
  const hasNext = !isPlaceholderData && (result?.pageInfo.hasNextPage ?? false)
  const shown = (page - 1) * list.size + rows.length
  const counted = total.data?.triggerRunsConnection
  return {
    rows,
    isLoaded: result !== undefined,
    isPlaceholder: isPlaceholderData,
    isFiltered: environment !== null || outcome !== null,
    isComplete: result?.isComplete ?? true,
    pages,
    hasNext,
    // New runs appear before they are counted again.
    total: Math.max(shown, counted?.totalCount ?? 0),
    isTotalExact: counted?.isTotalExact ?? !hasNext,
    error,
    refetch: () => void refetch(),
  }
}

const millisecond = 1

/** Returns whether a run can still change. */
const hasPending = (result: TriggerRunsAtResult | undefined): boolean =>
  result?.triggerRuns.some(({ outcome }) => outcome === 'pending') ?? true

/** Finds a run by its id. The API reads runs by their planned time, which the search knows. */
export function useRun(triggerId: string, runId: string, known: readonly Run[]) {
  const listed = known.find(({ id }) => id === runId)
  const isUnknown = listed === undefined && isUuid(runId)
  const search = useRead(triggerRunSearchDocument, { text: runId }, { isEnabled: isUnknown })
  const hit = search.data?.search.hits.find((one) => one.id === runId && one.triggerId === triggerId)
  const from = hit?.subtitle ?? null
  const at = useRead(
    triggerRunsAtDocument,
    {
      trigger: triggerId,
      from: from ?? '',
      to: from === null ? '' : new Date(Date.parse(from) + millisecond).toISOString(),
    },
    { isEnabled: isUnknown && from !== null, isLiveWhile: hasPending },
  )
  const run = listed ?? at.data?.triggerRuns.find(({ id }) => id === runId)
  const isMissing =
    run === undefined &&
    (!isUuid(runId) || (search.data !== undefined && hit === undefined) || at.data !== undefined)
  return {
    run,
    isMissing,
    error: search.error ?? at.error,
    refetch: () => void (search.isError ? search.refetch() : at.refetch()),
  }
}

/** Returns the name of the person with this id, if the caller may see the person. */
export function usePersonName(id: string | null): string | null {
  const { data } = useRead(triggerPersonDocument, { text: id ?? '' }, { isEnabled: id !== null })
  return data?.search.hits[0]?.title ?? null
}
