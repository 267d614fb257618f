// Cursors of connections: the id of a row, in an opaque form, so that clients do not build their own.
import { badRequest } from '../errors.ts'
import { parseUuid } from '../ids.ts'

/** The cursor of the row with this id. */
export const encodeCursor = (id: string): string => Buffer.from(`id:${id}`).toString('base64url')

/** The id a cursor stands for; throws when it is not one of ours. */
export function decodeCursor(cursor: string): string {
  const [, id] = /^id:(.{36})$/.exec(Buffer.from(cursor.slice(0, 100), 'base64url').toString('utf8')) ?? []
  const parsed = parseUuid(id)
  if (parsed === null)
    throw badRequest('after is not a cursor of this list; use endCursor of the page before')
  return parsed
}
