// Reads pages of logs by cursor, newest first. A condition without an index could read a whole log, so a page reads at
// most 10,000 rows. A page that reaches this limit is marked as incomplete, and the next page continues after the last
// row that was read.
import { type RawBuilder, sql } from 'kysely'
import { badRequest } from '../errors.ts'
import { checkText } from '../inputs/inputs.ts'
import { type TimeBounds, type TimeWindow, readTimeWindow } from '../inputs/time-window.ts'
import { decodeListCursor, encodeListCursor, runWithCursor } from './cursor.ts'
import { checkPageSize, createContainsPattern, defaultLimit } from './filters.ts'

/** The maximum number of rows that one page reads. */
export const maxScannedRows = 10_000
/** The maximum length of the time window of a text search. */
const maxTextWindowMs = 24 * 3_600_000
const maxTextLength = 200

/** Arguments of a log query before validation. */
export type LogArgs = TimeBounds & {
  text?: string | null
  after?: string | null
  pagination?: { limit: number; offset: number } | null
}

/** Validated arguments of a log query. */
export type LogQuery = {
  window: TimeWindow
  /** The ILIKE pattern of the text, or null. */
  pattern: string | null
  /** The values of the cursor, or null for the first page. */
  after: readonly string[] | null
  limit: number
}

/** How a log encodes its cursors. */
export type LogPosition<Row> = {
  /** The name of the log and its order, so that no other list accepts the cursor. */
  name: string
  /** The number of values in a cursor. */
  size: number
  positionOf: (row: Row) => readonly string[]
}

/** Validates the arguments; throws 400. */
export function readLogQuery(
  args: LogArgs,
  { name, size }: Omit<LogPosition<never>, 'positionOf'>,
): LogQuery {
  if ((args.pagination?.offset ?? 0) !== 0)
    throw badRequest('pagination offset must be 0 for a connection of a log; pass the cursor `after` instead')
  const window = readTimeWindow(args)
  return {
    window,
    pattern: typeof args.text === 'string' ? createContainsPattern(checkSearchText(args.text, window)) : null,
    after: typeof args.after === 'string' ? decodePosition(args.after, name, size) : null,
    limit: args.pagination ? checkPageSize(args.pagination.limit) : defaultLimit,
  }
}

function decodePosition(cursor: string, name: string, size: number): string[] {
  const values = decodeListCursor(cursor, name)
  return Array.from({ length: size }, (_, index) => values[index] ?? '')
}

function checkSearchText(text: string, { from, to }: TimeWindow): string {
  if (from === null || to === null || Date.parse(to) - Date.parse(from) > maxTextWindowMs)
    throw badRequest('text is searched in at most 24 hours: pass from and to that are at most 24 hours apart')
  if (text.trim() === '') throw badRequest('text must not be empty; omit it to list all rows')
  return checkText(text, 'text', maxTextLength)
}

/** The rows of a page, and at most one more row, which shows that another page exists. */
export type ScannedPage<Row> = {
  rows: Row[]
  /** The position of the last row that was read, if more rows may follow it; null at the end of the log. */
  scannedTo: readonly string[] | null
}

/**
 * The statements of a log: one for a page, and one for the number of its rows, which is exact if all rows were read.
 */
export type LogReader<Row> = {
  read: () => Promise<ScannedPage<Row>>
  count: () => Promise<{ count: number; isExact: boolean }>
}

/** Reads the connection of a log. The rows are counted only if the client requests the total. */
export async function readLogConnection<Row>(
  { limit, after }: LogQuery,
  { name, positionOf }: LogPosition<Row>,
  { read, count }: LogReader<Row>,
) {
  const { rows, scannedTo } = await runWithCursor(after !== null, read)
  const nodes = rows.slice(0, limit)
  const encode = (position: readonly string[]): string =>
    encodeListCursor(JSON.stringify([name, ...position]))
  const [first, last] = [nodes[0], nodes.at(-1)]
  const isFull = rows.length > limit
  const lastPosition = last === undefined ? undefined : positionOf(last)
  const end = isFull ? lastPosition : (scannedTo ?? lastPosition)
  let pendingCount: ReturnType<typeof count> | undefined
  const countOnce = (): ReturnType<typeof count> => (pendingCount ??= count())
  return {
    nodes,
    isComplete: isFull || scannedTo === null,
    pageInfo: {
      hasNextPage: isFull || scannedTo !== null,
      hasPreviousPage: after !== null,
      startCursor: first === undefined ? null : encode(positionOf(first)),
      endCursor: end === undefined ? null : encode(end),
    },
    totalCount: async () => (await countOnce()).count,
    isTotalExact: async () => (await countOnce()).isExact,
  }
}

/** Returns the conditions of a window on a time column, each preceded by `and`. */
export const createWindowSql = (column: RawBuilder<unknown>, { from, to }: TimeWindow): RawBuilder<unknown> =>
  sql`${from === null ? sql`` : sql`and ${column} >= ${from}::timestamptz`} ${to === null ? sql`` : sql`and ${column} < ${to}::timestamptz`}`

/** Returns the condition that one of the columns contains the text, preceded by `and`. */
export const createTextSql = (
  columns: readonly RawBuilder<unknown>[],
  pattern: string | null,
): RawBuilder<unknown> =>
  pattern === null
    ? sql``
    : sql`and (${sql.join(
        columns.map((column) => sql`${column} ilike ${pattern}`),
        sql` or `,
      )})`
