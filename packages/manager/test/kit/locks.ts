// Locks of the database, for tests of what happens while something waits.
import type { Pool } from 'pg'

/** Waits until a session of this database waits for a lock of another one. */
export async function untilWaiting(sql: Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await sql.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    if (rowCount !== 0) return
  }
}
