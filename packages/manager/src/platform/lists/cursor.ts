// Connection cursors: a row id in an opaque form, so that clients do not construct cursors themselves.
import { badRequest } from '../errors.ts'
import { parseUuid } from '../ids.ts'

/** Returns the cursor of the row with this id. */
export const encodeCursor = (id: string): string => Buffer.from(`id:${id}`).toString('base64url')

/** Returns the row id in a cursor; throws if `encodeCursor` did not create the cursor. */
export function decodeCursor(cursor: string): string {
  const [, id] = /^id:(.{36})$/.exec(Buffer.from(cursor.slice(0, 100), 'base64url').toString('utf8')) ?? []
  const rowId = parseUuid(id)
  if (rowId === null) throw badRequest('after is not a valid cursor; use endCursor of the previous page')
  return rowId
}
