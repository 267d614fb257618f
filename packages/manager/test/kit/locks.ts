// Detects and holds database locks, for tests of waiting transactions.
import { Client, type Pool } from 'pg'

/** Returns true if a session of this database waits for a lock. */
export async function isWaiting(sql: Pool): Promise<boolean> {
  const { rowCount } = await sql.query(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rowCount !== 0
}

/** Waits until a session waits for a lock. */
export async function waitForLockWait(sql: Pool): Promise<void> {
  while (!(await isWaiting(sql)));
}

/** Runs the statement in a separate transaction, which ends when `work` calls `commit` or returns. */
export async function whileLocked<T>(
  databaseUrl: string,
  [text, values]: [text: string, values: unknown[]],
  work: (commit: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const holder = new Client({ connectionString: databaseUrl })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query(text, values)
    return await work(async () => void (await holder.query('commit')))
  } finally {
    await holder.end()
  }
}
