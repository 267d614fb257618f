// Serializes an inbox page to JSON. The data of a notification is copied as text, because parsing and
// serializing it would change numbers that exceed the precision of JavaScript.
import { encodeCursor } from './inbox-cursor.pure.ts'

/** A row of the page statement. Field names are the column names of the statement. */
export type InboxRow = {
  id: string
  type: string | null
  created_at: string
  read_at: string | null
  seen_at: string | null
  expires_at: string | null
  title: string | null
  body: string | null
  /** Null if the content is missing, or if the row only marks where the scan stopped. */
  severity: string | null
  link: string | null
  /** The data as JSON text. */
  data: string | null
  /** Whether the row is part of the page. False for a row that only marks where the scan stopped. */
  matches: boolean
  /** True for the last scanned row if more rows can follow. */
  reached_scan_limit: boolean
}

type PagedRow = Pick<InboxRow, 'id' | 'matches' | 'reached_scan_limit' | 'severity'>

/**
 * Selects the rows of a page, newest first. If more rows follow, the caller passes one row more than the limit. A page
 * ends where a scan stopped, because rows between that row and the next one may be unknown.
 */
export function selectPage<Row extends PagedRow>(rows: readonly Row[], limit: number) {
  const stoppedAt = rows.findIndex((row) => row.reached_scan_limit)
  const pageRows = rows.slice(0, stoppedAt === -1 ? limit : Math.min(limit, stoppedAt + 1))
  const last = pageRows.at(-1)
  const hasMore = last !== undefined && (rows.length > pageRows.length || last.reached_scan_limit)
  const items = pageRows.filter(({ matches, severity }) => matches && severity !== null)
  const [startCursor, endCursor] = [pageRows[0], last].map((row) =>
    row === undefined ? null : encodeCursor(row.id),
  )
  return { items, hasMore, startCursor: startCursor ?? null, endCursor: endCursor ?? null }
}

/** Builds a page. */
export function buildPageText(rows: readonly InboxRow[], limit: number): string {
  const { items, hasMore, endCursor } = selectPage(rows, limit)
  const nextCursor = hasMore ? JSON.stringify(endCursor) : 'null'
  return `{"notifications":[${items.map(serializeItem).join(',')}],"next_cursor":${nextCursor},"has_more":${hasMore}}`
}

function serializeItem(row: InboxRow): string {
  const { id, type, title, body, severity, link, data, created_at, read_at, seen_at, expires_at } = row
  const content = JSON.stringify({ id, type, title, body, severity, link })
  const state = JSON.stringify({
    created_at,
    read: read_at !== null,
    read_at,
    seen: seen_at !== null,
    seen_at,
    expires_at,
  })
  return `${content.slice(0, -1)},"data":${data ?? 'null'},${state.slice(1)}`
}

/** The page of an empty inbox. */
export const emptyPage = buildPageText([], 1)
