// Connection cursors: the position of a row in an opaque form, so that clients do not construct cursors themselves.
import { type AppError, badRequest } from '../errors.ts'
import { parseUuid } from '../ids.ts'

/** Returns the cursor of the row with this id. */
export const encodeCursor = (id: string): string => Buffer.from(`id:${id}`).toString('base64url')

/** Returns the row id in a cursor; throws if `encodeCursor` did not create the cursor. */
export function decodeCursor(cursor: string): string {
  const [, id] = /^id:(.{36})$/.exec(Buffer.from(cursor.slice(0, 100), 'base64url').toString('utf8')) ?? []
  const rowId = parseUuid(id)
  if (rowId === null) throw createInvalidCursorError()
  return rowId
}

// Five columns of 2,000 characters, with four bytes each, in base64.
const maxCursorLength = 64_000

/** Returns the cursor for the order and the values of a row, which the database joins in one JSON array. */
export const encodeListCursor = (position: string): string => Buffer.from(position).toString('base64url')

/** Returns the values in a cursor; throws if the cursor belongs to a list with a different order. */
export function decodeListCursor(cursor: string, orderName: string): (string | null)[] {
  let position: unknown
  try {
    position = JSON.parse(Buffer.from(cursor.slice(0, maxCursorLength), 'base64url').toString('utf8'))
  } catch {
    throw createInvalidCursorError()
  }
  if (!Array.isArray(position) || position[0] !== orderName) throw createInvalidCursorError()
  const values: unknown[] = position.slice(1)
  if (!values.every(isCursorValue)) throw createInvalidCursorError()
  return values
}

// PostgreSQL cannot store U+0000 and would reject the statement.
const isCursorValue = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && !value.includes('\0'))

export const createInvalidCursorError = (): AppError =>
  badRequest('after is not a valid cursor; use endCursor of the previous page')

/**
 * Runs a statement with the values of a cursor. If the values are not from a cursor of the list, PostgreSQL can reject
 * them; that error becomes a 400.
 */
export async function runWithCursor<T>(hasCursor: boolean, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const isDataException = String((error as { code?: unknown }).code).startsWith('22')
    throw hasCursor && isDataException ? createInvalidCursorError() : error
  }
}
