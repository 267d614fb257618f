// A page of an inbox as JSON. The data of a notification is passed on as the text it was sent as: reading and writing it
// again would change numbers that JavaScript has no room for.
import { encodeCursor } from './inbox-cursor.pure.ts'

/** Columns are named as the statement names them. */
export type InboxRow = {
  id: string
  type: string | null
  created_at: string
  read_at: string | null
  seen_at: string | null
  expires_at: string | null
  title: string | null
  body: string | null
  /** Null when there is no content, and for a row that only says how far the look went. */
  severity: string | null
  link: string | null
  /** JSON. */
  data: string | null
  /** False for a row that is not part of the page: the look ended there. */
  matches: boolean
  /** True for the last row that was looked at, when more may follow. */
  is_cut: boolean
}

/** The page that rows make; there is one more of them than the page holds when others follow. */
export function pageText(rows: readonly InboxRow[], limit: number): string {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = last !== undefined && (rows.length > limit || last.is_cut)
  const items = shown.filter(({ matches, severity }) => matches && severity !== null).map(itemText)
  const next = hasMore ? JSON.stringify(encodeCursor(last.id)) : 'null'
  return `{"notifications":[${items.join(',')}],"next_cursor":${next},"has_more":${hasMore}}`
}

function itemText(row: InboxRow): string {
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

/** The page of an inbox without rows. */
export const emptyPage = pageText([], 1)
