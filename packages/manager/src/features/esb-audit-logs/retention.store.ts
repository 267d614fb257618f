import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'

// Partitions come and go under a lock of the whole log, and calls queue up behind whoever waits for it.
const waitBriefly = sql`select set_config('lock_timeout', '2s', true)`

/** Makes the monthly partitions from last month to the month after next; answers how many were missing. */
export async function preparePartitions(tx: Tx): Promise<number> {
  await waitBriefly.execute(tx)
  const { rows } = await sql<{ made: number }>`select esb_audit_logs_prepare(2) as made`.execute(tx)
  return rows[0]?.made ?? 0
}

/** Drops the months that are past their retention by the database's clock, unless another process is at it; returns how many. */
export async function dropExpiredPartitions(tx: Tx, retentionDays: number): Promise<number> {
  await waitBriefly.execute(tx)
  const { rows } = await sql<{ dropped: number }>`
    select esb_audit_logs_drop_expired(${retentionDays}::integer) as dropped
    where pg_try_advisory_xact_lock(hashtext('esb_audit_logs_drop_before'))`.execute(tx)
  return rows[0]?.dropped ?? 0
}
