// Connects --follow to the terminal.
import type { Connection } from '@manager/client'
import type { Context } from '../context.ts'
import type { Format } from '../format.ts'
import { type Row, printRemark } from '../output.ts'
import { followLog } from './follow.ts'
import { createRowStream } from './row-stream.ts'
import { createServerClock } from './server-clock.ts'
import type { LogSource } from './source.ts'

export type FollowView = {
  columns: readonly string[]
  /** The number of existing rows to print first. */
  limit: number
  /** Converts a row before it is printed. */
  formatRow: (row: Row, format: Format) => Row
}
/** A read that is not answered within this time is repeated. */
const timeoutMs = 10_000

/** Prints new rows of a log until the user stops the program. */
export async function runFollow<LogRow extends Row>(
  context: Context,
  connection: Connection,
  createSource: (connection: Connection) => LogSource<LogRow>,
  { columns, limit, formatRow }: FollowView,
): Promise<never> {
  const { terminal, format, signal } = context
  // followLog repeats failed reads itself, and tells the user.
  const clock = createServerClock({ ...connection, maxRetries: 0, timeoutMs })
  const writeRows = createRowStream(terminal, format, columns)
  return followLog(createSource(clock.connection), clock, {
    limit,
    signal,
    print: (rows) => writeRows(rows.map((row) => formatRow(row, format))),
    remark: (text) => printRemark(terminal, text),
  })
}
