// Tables that are partitioned by month: partitions are created ahead of time and dropped when they expire. The database
// does both, by its own clock and only for tables that migrations list in monthly_partitions. A process with a wrong
// clock therefore deletes nothing, and the service role needs no privileges to create or drop tables.
import { sql } from 'kysely'
import type { Logger } from '../log/log.ts'
import type { Schedule } from '../jobs/schedules.ts'
import type { Db, Queries } from './handles.ts'

/** A table of monthly_partitions and its retention. The database enforces a minimum retention. */
export type PartitionedTable = { table: string; retentionDays: number }

const hourMs = 3_600_000
const monthsAhead = 2

/** PostgreSQL reports a missing partition as a check violation without a constraint name. */
export const isWithoutPartition = (error: unknown): boolean =>
  (error as { code?: string }).code === '23514' && (error as { constraint?: string }).constraint === undefined

/**
 * Creates the partitions from last month to the month after next. Returns the number of partitions that were missing.
 */
export async function preparePartitions(db: Queries, table: string): Promise<number> {
  const { rows } = await sql<{ created: number }>`
    select partitions_prepare(${table}, ${monthsAhead}::integer) as created`.execute(db)
  return rows[0]?.created ?? 0
}

/** Drops expired partitions, unless another process is doing so. Returns the number of dropped partitions. */
async function dropExpiredPartitions(
  db: Queries,
  { table, retentionDays }: PartitionedTable,
): Promise<number> {
  const { rows } = await sql<{ dropped: number }>`
    select partitions_drop_expired(${table}, ${retentionDays}::integer) as dropped`.execute(db)
  return rows[0]?.dropped ?? 0
}

/** Returns the schedule that creates upcoming partitions and drops expired ones. */
export function createPartitionsSchedule(
  name: string,
  { table, retentionDays }: PartitionedTable,
  { db, log }: { db: Db; log: Logger },
): Schedule {
  const run = async (): Promise<void> => {
    const createdCount = await preparePartitions(db.idempotent, table)
    if (createdCount > 0) log.info({ table, partitions: createdCount }, 'monthly partitions created')
    const droppedCount = await dropExpiredPartitions(db.idempotent, { table, retentionDays })
    if (droppedCount > 0)
      log.info(
        { table, partitions: droppedCount, retention_days: retentionDays },
        'monthly partitions dropped',
      )
  }
  return { name, everyMs: hourMs, atStart: true, run }
}
