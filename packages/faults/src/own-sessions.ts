// What the sessions of the service do in PostgreSQL, as its views tell.
import type { Pool } from 'pg'
import { pause } from './children.ts'

export type IdleTransactions = {
  /** The longest that a session of the service was idle in a transaction, in seconds. */
  longest: number
  /** In how many looks there was one. */
  seen: number
}

const everyMs = 500

/** Looks for transactions of the service that wait for their next statement, until told to end. */
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
      await pause(everyMs)
    }
  }
  const watching = watch()
  // Who ends it gets the failure.
  watching.catch(() => undefined)
  return async () => {
    ending.abort()
    await watching
    return found
  }
}
