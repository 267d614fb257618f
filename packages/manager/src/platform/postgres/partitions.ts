// Tables that are partitioned by month: partitions are made ahead of the rows and dropped when they are out of date.
// The database does both, for tables its migrations list in monthly_partitions and for no others, by its own clock: a
// process with a wrong clock erases nothing, and the service's role needs no privileges to make or drop tables.
import { sql } from 'kysely'
import type { Logger } from '../log/log.ts'
import type { Schedule } from '../jobs/schedules.ts'
import type { Db, Queries } from './handles.ts'

/** A table of monthly_partitions, and how long its rows are kept; the database knows the least. */
export type PartitionedTable = { table: string; retentionDays: number }

const hourMs = 3_600_000
const monthsAhead = 2

/** PostgreSQL reports a missing partition as a violated check without a name. */
export const isWithoutPartition = (error: unknown): boolean =>
  (error as { code?: string }).code === '23514' && (error as { constraint?: string }).constraint === undefined

/** Makes the partitions from last month to the month after next; returns how many were missing. */
export async function preparePartitions(db: Queries, table: string): Promise<number> {
  const { rows } = await sql<{ made: number }>`
    select partitions_prepare(${table}, ${monthsAhead}::integer) as made`.execute(db)
  return rows[0]?.made ?? 0
}

/** Drops the partitions that are past their retention, unless another process is doing so; returns how many. */
async function dropExpiredPartitions(
  db: Queries,
  { table, retentionDays }: PartitionedTable,
): Promise<number> {
  const { rows } = await sql<{ dropped: number }>`
    select partitions_drop_expired(${table}, ${retentionDays}::integer) as dropped`.execute(db)
  return rows[0]?.dropped ?? 0
}

/** The schedule that makes the partitions that are about to be needed and drops those that are out of date. */
export function createPartitionsSchedule(
  name: string,
  { table, retentionDays }: PartitionedTable,
  { db, log }: { db: Db; log: Logger },
): Schedule {
  const run = async (): Promise<void> => {
    const made = await preparePartitions(db.idempotent, table)
    if (made > 0) log.info({ table, partitions: made }, 'monthly partitions made')
    const dropped = await dropExpiredPartitions(db.idempotent, { table, retentionDays })
    if (dropped > 0)
      log.info({ table, partitions: dropped, retention_days: retentionDays }, 'monthly partitions dropped')
  }
  return { name, everyMs: hourMs, atStart: true, run }
}
