// Reads the pages of a list that continues by cursor.
import type { Row } from './output.ts'
import type { Listed } from './list-options.ts'

export type CursorPage = {
  nodes: readonly Row[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}
export type PageRequest = { pagination: { limit: number; offset: number }; after?: string }
/** The page sizes that the API accepts. */
const pageSizes = [1, 10, 20, 25, 50, 100]
const maxPageSize = 100

/** Reads pages until there are `limit` rows. `fetchPage` returns the page after a cursor. */
export async function readPages(
  limit: number,
  fetchPage: (request: PageRequest) => Promise<CursorPage>,
): Promise<Listed> {
  const rows: Row[] = []
  for (let after: string | undefined; ;) {
    const missing = limit - rows.length
    const pagination = { limit: pageSizes.find((size) => size >= missing) ?? maxPageSize, offset: 0 }
    const { nodes, pageInfo } = await fetchPage({ pagination, ...(after === undefined ? {} : { after }) })
    rows.push(...nodes)
    const hasNextPage = pageInfo.hasNextPage && pageInfo.endCursor !== null
    if (rows.length >= limit || !hasNextPage)
      return { rows: rows.slice(0, limit), hasMore: rows.length > limit || hasNextPage }
    after = pageInfo.endCursor ?? undefined
  }
}
