// Reads the page of entries that the address selects.
import { type Failure, describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { type CursorPages, getCursorPage, useCursorPages } from '../../app/cursor-pages.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { type AuditEntriesResult, auditEntriesDocument } from '../../generated/documents.ts'
import type { AuditQuery } from './audit-query.ts'
import type { Entry } from './entry.ts'

const noEntries: readonly Entry[] = []
const refetchMs = 60_000

export type EntriesRead = {
  readonly entries: readonly Entry[]
  /** Undefined until the first page is loaded. */
  readonly result: AuditEntriesResult['auditLogsConnection'] | undefined
  readonly pages: CursorPages
  readonly hasNext: boolean
  readonly failure: Failure | null
  readonly refetch: () => void
}

/** New entries appear on the first page automatically. */
export function useEntries(list: ListSearch, query: AuditQuery): EntriesRead {
  const { id } = useProject()
  const { page, after } = getCursorPage(list)
  const { data, error, isPlaceholderData, refetch } = useRead(
    auditEntriesDocument,
    { project: id, ...query, pagination: { limit: list.size, offset: 0 }, after },
    { keepsPrevious: true, ...(page === 1 ? { refetchMs } : {}) },
  )
  const result = data?.auditLogsConnection
  // While a page loads, the result is still the previous page. Its end cursor is the cursor of the page that is
  // loading.
  const pages = useCursorPages(list, isPlaceholderData ? undefined : result?.pageInfo.endCursor)
  return {
    entries: result?.nodes ?? noEntries,
    result,
    pages,
    hasNext: !isPlaceholderData && (result?.pageInfo.hasNextPage ?? false),
    failure: error === null ? null : describeFailure(error),
    refetch: () => void refetch(),
  }
}
