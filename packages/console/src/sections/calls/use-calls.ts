// Reads the page of calls that the address selects.
import { useMemo } from 'react'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { type CursorPages, getCursorPage, useCursorPages } from '../../app/cursor-pages.ts'
import { isUuid } from '../../app/ids.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { type SteadyRows, useSteadyRows } from '../../app/steady-rows.tsx'
import type { TimeRange } from '../../app/time-range.ts'
import { callListDocument, callOfRequestDocument } from '../../generated/documents.ts'
import { type Call, toCallKey } from './call.ts'
import {
  type CallsQuery,
  type TextMode,
  isRequestId,
  isTooLong,
  noFilters,
  readCallRange,
  toCallsQuery,
} from './calls-query.ts'

const noCalls: readonly Call[] = []

/** Decides whether the search text is a request id; null while this is unknown. */
function useTextMode(application: string, text: string | undefined): TextMode | null {
  const canBeId = text !== undefined && isRequestId(text)
  const needsCheck = canBeId && !isUuid(text)
  const { data, error } = useRead(
    callOfRequestDocument,
    { application, requestId: text ?? '' },
    { isEnabled: needsCheck },
  )
  if (!needsCheck) return canBeId ? 'requestId' : 'text'
  if (data === undefined) return error === null ? null : 'text'
  return data.esbAuditLogs.length > 0 ? 'requestId' : 'text'
}

export type CallsRead = {
  readonly steady: SteadyRows<Call>
  readonly query: CallsQuery
  readonly range: TimeRange
  /** Texts are searched in short ranges only, so nothing was read. */
  readonly isRangeTooLong: boolean
  /** False if the API stopped before the page was full; undefined until the first page is loaded. */
  readonly isComplete: boolean | undefined
  readonly pages: CursorPages
  readonly hasNext: boolean
  readonly failure: Failure | null
  readonly refetch: () => void
}

/** The parameters that select the list. The ids of other lists on the page do not belong to it. */
const listParameters = ['application', ...Object.keys(noFilters)]

/** New calls arrive on the first page while the person reads it. */
export function useCalls(list: ListSearch, application: string): CallsRead {
  const { search, size } = list
  const now = useNow()
  const { page, after } = getCursorPage(list)
  const mode = useTextMode(application, search['q'])
  const range = readCallRange(search, now, mode ?? 'text')
  const query = toCallsQuery(search, now, mode ?? 'text')
  const isRangeTooLong = query.text !== null && isTooLong(range)
  const isPast = range.to !== null && Date.parse(range.to) <= now
  const { data, error, isPlaceholderData, refetch } = useRead(
    callListDocument,
    { application, ...query, pagination: { limit: size, offset: 0 }, after },
    {
      keepsPrevious: true,
      isEnabled: mode !== null && !isRangeTooLong,
      isLive: page === 1 && !isPast,
    },
  )
  const result = isRangeTooLong ? undefined : data?.esbAuditLogsConnection
  const nodes = result?.nodes ?? noCalls
  const rows = useMemo(() => nodes.map((call) => ({ ...call, id: toCallKey(call) })), [nodes])
  const steady = useSteadyRows(rows, {
    key: JSON.stringify([application, size, after, mode, listParameters.map((name) => search[name])]),
    isPlaceholder: isPlaceholderData,
  })
  const pages = useCursorPages(list, isPlaceholderData ? undefined : result?.pageInfo.endCursor)
  return {
    steady,
    query,
    range,
    isRangeTooLong,
    isComplete: result?.isComplete,
    pages,
    hasNext: !isPlaceholderData && (result?.pageInfo.hasNextPage ?? false),
    failure: error === null || isRangeTooLong ? null : describeFailure(error),
    refetch: () => void refetch(),
  }
}
