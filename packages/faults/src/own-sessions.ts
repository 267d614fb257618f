// Observes the PostgreSQL sessions of the service in pg_stat_activity.
import type { Pool } from 'pg'
import { pause } from './children.ts'

export type IdleTransactions = {
  /** The longest time in seconds that a session of the service was idle in a transaction. */
  longest: number
  /** Number of samples with an idle transaction. */
  seen: number
}

const intervalMs = 500

/** Samples idle transactions of the service until the returned function is called. */
export function watchIdleTransactions(sql: Pool): () => Promise<IdleTransactions> {
  const found: IdleTransactions = { longest: 0, seen: 0 }
  const ending = new AbortController()
  const watch = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const { rows } = await sql.query<{ seconds: number | null }>(
        `select max(extract(epoch from clock_timestamp() - state_change))::float8 as seconds from pg_stat_activity
         where application_name like 'manager%' and state like 'idle in transaction%'`,
      )
      const seconds = rows[0]?.seconds ?? null
      if (seconds !== null) {
        found.seen++
        found.longest = Math.max(found.longest, seconds)
      }
      await pause(intervalMs)
    }
  }
  const watching = watch()
  // Ignore the failure here, because the returned function reports it.
  watching.catch(() => undefined)
  return async () => {
    ending.abort()
    await watching
    return found
  }
}
