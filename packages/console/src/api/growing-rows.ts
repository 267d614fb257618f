// Lists that show their first rows immediately and load more rows on demand, such as the inbox.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type RowsRead, readAllRows } from './all-rows.ts'

export type GrowingRows<Row> = {
  /** The rows that have been read, in the same array until they change; undefined until the first rows arrive. */
  readonly rows: readonly Row[] | undefined
  /** True while the rows are those of the previous variables. */
  readonly isPlaceholder: boolean
  readonly hasMore: boolean
  readonly isReadingMore: boolean
  readonly readMore: () => void
  /** Reads all shown rows again. */
  readonly refresh: () => void
  readonly error: Error | null
  readonly retry: () => void
}

/** Reads the first pages of a list, and more pages with every `readMore`. Each step reads up to `maxPages` pages. */
export function useGrowingRows<Result, Variables extends { readonly after?: string | null }, Row>(
  read: Omit<RowsRead<Result, Variables, Row>, 'after'>,
  { isEnabled = true } = {},
): GrowingRows<Row> {
  const { data, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, ...query } = useInfiniteQuery({
    queryKey: [read.document, read.variables, 'growing'],
    queryFn: ({ pageParam, signal }) => readAllRows({ ...read, after: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ endCursor }) => endCursor,
    placeholderData: keepPreviousData,
    enabled: isEnabled,
  })
  const readMore = (): void => void query.fetchNextPage()
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows), [data])
  return {
    rows,
    isPlaceholder: query.isPlaceholderData,
    hasMore: hasNextPage,
    isReadingMore: isFetchingNextPage,
    readMore,
    refresh: () => void query.refetch(),
    error,
    retry: isFetchNextPageError ? readMore : () => void query.refetch(),
  }
}
