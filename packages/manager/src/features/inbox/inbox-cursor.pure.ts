// The place of a notification in an inbox. Its id holds the time it was made at (UUIDv7), so an id alone is a place, and
// a cursor is the id of the last notification of a page.

/** Where a row stands: newer ones have a greater time, or the same and a greater id. */
export type InboxKey = { createdAt: string; id: string }

// PostgreSQL reads times of later years in another form; nothing is from there.
const endOfTimeMs = Date.UTC(9999, 11, 31)
const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const cursorForm = /^[A-Za-z0-9_-]{22}$/

/** In front of everything. */
export const newest: InboxKey = { createdAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

/** The place of an id in lower case; null for one that no notification has. */
export function keyOf(id: string): InboxKey | null {
  if (!version7.test(id)) return null
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return ms < endOfTimeMs ? { createdAt: new Date(ms).toISOString(), id } : null
}

/** The cursor of a page that ends with this id. */
export const encodeCursor = (id: string): string =>
  Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')

/** The place that a cursor stands for; null when it is none. */
export function decodeCursor(cursor: string): InboxKey | null {
  if (!cursorForm.test(cursor)) return null
  const hex = Buffer.from(cursor, 'base64url').toString('hex')
  const parts = [0, 8, 12, 16, 20].map((from, index, all) => hex.slice(from, all[index + 1]))
  const key = keyOf(parts.join('-'))
  // The last character may say more than the bytes hold.
  return key !== null && encodeCursor(key.id) === cursor ? key : null
}
