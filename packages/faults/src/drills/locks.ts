// Measures, on a separate connection, how long sessions wait for locks.
import type { Pool } from 'pg'

/** The longest wait that was observed. */
export type LockWait = { ms: number; what: string }

const intervalMs = 100
const text = `select l.pid, l.waitstart::text as since, (extract(epoch from clock_timestamp() - l.waitstart) * 1000)::float8 as ms,
    l.locktype || ' ' || l.mode || ' ' || coalesce(l.relation::regclass::text, '') || ': ' || left(a.query, 120) as what
  from pg_locks l join pg_stat_activity a using (pid)
  where not l.granted and l.waitstart is not null and a.datname = current_database()`

/** Samples lock waits every 100 ms until `end` is called. */
export function watchLocks(sql: Pool): { end(): Promise<LockWait[]> } {
  const waits = new Map<string, LockWait>()
  const state = { isEnded: false }
  const watch = async (): Promise<void> => {
    while (!state.isEnded) {
      const { rows } = await sql.query<LockWait & { pid: number; since: string }>(text)
      for (const { pid, since, ms, what } of rows) waits.set(`${pid} ${since}`, { ms, what })
      await new Promise((resolve) => setTimeout(resolve, intervalMs))
    }
  }
  const watching = watch()
  // Ignore the failure here, because `end` reports it.
  watching.catch(() => undefined)
  return {
    end: async () => {
      state.isEnded = true
      await watching
      return [...waits.values()]
    },
  }
}
