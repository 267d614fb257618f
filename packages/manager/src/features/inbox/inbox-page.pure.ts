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

/** Builds a page. If more rows follow, the caller passes one row more than the limit. */
export function buildPageText(rows: readonly InboxRow[], limit: number): string {
  const pageRows = rows.slice(0, limit)
  const last = pageRows.at(-1)
  const hasMore = last !== undefined && (rows.length > limit || last.reached_scan_limit)
  const items = pageRows.filter(({ matches, severity }) => matches && severity !== null).map(serializeItem)
  const nextCursor = hasMore ? JSON.stringify(encodeCursor(last.id)) : 'null'
  return `{"notifications":[${items.join(',')}],"next_cursor":${nextCursor},"has_more":${hasMore}}`
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
