// Computes the position of a notification in an inbox. The id is a UUIDv7 and contains the creation time, so
// the position can be derived from the id. A cursor encodes the id of the last notification of a page.

/** Sort key of a row. Newer rows have a greater time, or the same time and a greater id. */
export type InboxKey = { createdAt: string; id: string }

// PostgreSQL expects a different format for years after 9999.
const maxTimestampMs = Date.UTC(9999, 11, 31)
const uuidV7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const cursorPattern = /^[A-Za-z0-9_-]{22}$/

/** The position before the newest row, at which the first page starts. */
export const startOfInbox: InboxKey = { createdAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

/** Returns the position of a lower-case id, or null if the id is not a UUIDv7 that a notification can have. */
export function parseInboxKey(id: string): InboxKey | null {
  if (!uuidV7Pattern.test(id)) return null
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return ms < maxTimestampMs ? { createdAt: new Date(ms).toISOString(), id } : null
}

/** Returns the cursor of a page whose last notification has this id. */
export const encodeCursor = (id: string): string =>
  Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')

/** Returns the position that a cursor encodes, or null if the cursor is malformed. */
export function decodeCursor(cursor: string): InboxKey | null {
  if (!cursorPattern.test(cursor)) return null
  const hex = Buffer.from(cursor, 'base64url').toString('hex')
  const parts = [0, 8, 12, 16, 20].map((from, index, all) => hex.slice(from, all[index + 1]))
  const key = parseInboxKey(parts.join('-'))
  // Decoding discards the spare bits of the last base64 character. Encoding the result again detects cursors
  // in which these bits are set.
  return key !== null && encodeCursor(key.id) === cursor ? key : null
}
