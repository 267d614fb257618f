// Counts the rows of a log once. A schedule reads the rows of the next minute and adds them to hourly counts. One
// transaction writes the counts and the time up to which rows are counted. The schedule stays behind the present,
// because a row can commit later than a row with a later time. Replicas skip a roll-up that another process runs.
import { sql } from 'kysely'
import type { Db, Tx } from '../postgres/handles.ts'
import type { Schedule } from './schedules.ts'

/** A range of times: from (inclusive) to until (exclusive). */
export type TimeRange = { from: string; until: string }

export type RollUp = {
  /** The row of the table roll_ups. */
  name: string
  /** Maximum time that rows take to commit. */
  lagMs: number
  count: (tx: Tx, range: TimeRange) => Promise<void>
  /** Receives the seconds by which the counts lag behind the present. */
  onLag: (seconds: number) => void
}

const everyMs = 60_000
const [minRangeMs, maxRangeMs] = [1_000, 60_000]
const minLagMs = 60_000

/**
 * Returns the maximum time between reading the time of a row and committing the row. In this time, the transaction can
 * run two statements, each after waiting for a connection, and can be retried once.
 */
export const computeLagMs = (config: {
  databaseStatementTimeoutMs: number
  databaseAcquireTimeoutMs: number
}): number => Math.max(minLagMs, 4 * (config.databaseStatementTimeoutMs + config.databaseAcquireTimeoutMs))

/** Returns the schedule that counts the rows of the log up to the present. */
export function createRollUpSchedule(db: Db, rollUp: RollUp): Schedule {
  // If a minute contains too many rows for one statement, the next attempt counts a shorter range.
  let rangeMs = maxRangeMs
  const countNext = (): Promise<boolean> =>
    db.transaction(async (tx) => {
      const range = await lockNextRange(tx, rollUp, rangeMs)
      if (range === null) return false
      await rollUp.count(tx, range)
      await moveTo(tx, rollUp.name, range.until)
      return Date.parse(range.until) - Date.parse(range.from) === rangeMs
    })
  const run = async (signal?: AbortSignal): Promise<void> => {
    try {
      for (;;) {
        if (signal?.aborted === true || !(await countNext())) return
        rangeMs = Math.min(maxRangeMs, 2 * rangeMs)
      }
    } catch (error) {
      rangeMs = Math.max(minRangeMs, Math.floor(rangeMs / 2))
      throw error
    } finally {
      rollUp.onLag(await readLagSeconds(db, rollUp.name))
    }
  }
  return { name: `${rollUp.name.replaceAll('_', '-')}-counts`, everyMs, run }
}

/** Locks the roll-up and returns the next range, or null if another process has locked it or no range is due. */
async function lockNextRange(tx: Tx, { name, lagMs }: RollUp, rangeMs: number): Promise<TimeRange | null> {
  const { rows } = await sql<TimeRange>`
    select counted_until as from, date_trunc('milliseconds', least(
      counted_until + make_interval(secs => ${rangeMs / 1_000}::float8),
      clock_timestamp() - make_interval(secs => ${lagMs / 1_000}::float8))) as until
    from roll_ups where name = ${name} for update skip locked`.execute(tx)
  const [range] = rows
  const isDue = range !== undefined && Date.parse(range.until) - Date.parse(range.from) >= minRangeMs
  return isDue ? range : null
}

async function moveTo(tx: Tx, name: string, until: string): Promise<void> {
  await tx.updateTable('rollUps').set({ countedUntil: until }).where('name', '=', name).execute()
}

async function readLagSeconds(db: Db, name: string): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from clock_timestamp() - counted_until)::float8 as seconds
    from roll_ups where name = ${name}`.execute(db.read)
  return rows[0]?.seconds ?? 0
}
