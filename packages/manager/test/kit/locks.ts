// Locks of the database, for tests of what happens while something waits.
import type { Pool } from 'pg'

/** True while a session of this database waits for a lock of another one. */
export async function isWaiting(sql: Pool): Promise<boolean> {
  const { rowCount } = await sql.query(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rowCount !== 0
}

/** Waits until one does. */
export async function untilWaiting(sql: Pool): Promise<void> {
  while (!(await isWaiting(sql)));
}
