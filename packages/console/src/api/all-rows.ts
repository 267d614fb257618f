// Reads complete lists for a page, such as the applications of a project. Lists are read page by page, up to a limit.
import { type TypedDocument, graphql } from '@manager/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { connection } from './connection.ts'
import { queryClient } from './query-client.ts'
import type { ReadOptions } from './requests.ts'

/** A page of a list. The documents of these queries accept the cursor of the previous page as `after`. */
type RowsPage<Row> = {
  readonly nodes: readonly Row[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}
export type AllRows<Row> = {
  readonly rows: readonly Row[]
  readonly isComplete: boolean
  /** The cursor of the last row that was read; null if the list is complete. */
  readonly endCursor: string | null
}

type PageVariables = { readonly after?: string | null }
export type RowsRead<Result, Variables extends PageVariables, Row> = {
  document: TypedDocument<Result, Variables>
  variables: Omit<Variables, 'after'>
  select: (result: Result) => RowsPage<Row>
  /** Maximum number of pages to read; a page has at most 100 rows. */
  maxPages?: number
  /** Starts after the row at this cursor instead of at the first row. */
  after?: string | null
}

/** Reads the pages of a list one after another. `isComplete` is false if the list has more rows than the limit. */
export async function readAllRows<Result, Variables extends PageVariables, Row>(
  { document, variables, select, maxPages = 10, after: start = null }: RowsRead<Result, Variables, Row>,
  signal?: AbortSignal,
): Promise<AllRows<Row>> {
  const rows: Row[] = []
  let after = start
  for (let page = 0; page < maxPages; page++) {
    const pageVariables = { ...variables, after } as unknown as Variables
    const { nodes, pageInfo } = select(
      await graphql(connection, document, pageVariables, signal === undefined ? {} : { signal }),
    )
    rows.push(...nodes)
    if (!pageInfo.hasNextPage) return { rows, isComplete: true, endCursor: null }
    after = pageInfo.endCursor
  }
  return { rows, isComplete: false, endCursor: after }
}

const describeAllRows = <Result, Variables extends PageVariables, Row>(
  read: RowsRead<Result, Variables, Row>,
) => ({
  queryKey: [read.document, read.variables, 'all'],
  queryFn: ({ signal }: { signal: AbortSignal }) => readAllRows(read, signal),
})

/** Reads a complete list before the component that shows it is loaded, unless the cache already has the list. */
export const startAllRows = <Result, Variables extends PageVariables, Row>(
  read: RowsRead<Result, Variables, Row>,
): Promise<AllRows<Row>> => queryClient.fetchQuery({ ...describeAllRows(read), staleTime: Infinity })

/** Reads a complete list for a page. */
export const useAllRows = <Result, Variables extends PageVariables, Row>(
  read: RowsRead<Result, Variables, Row>,
  { isEnabled = true, isSensitive = false }: Pick<ReadOptions, 'isEnabled' | 'isSensitive'> = {},
): UseQueryResult<AllRows<Row>> =>
  useQuery({
    ...describeAllRows(read),
    enabled: isEnabled,
    ...(isSensitive ? { gcTime: 0 } : {}),
  })
