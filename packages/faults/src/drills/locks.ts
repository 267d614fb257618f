// How long sessions wait for locks, seen from outside.
import type { Pool } from 'pg'

/** The longest that was seen of one wait. */
export type LockWait = { ms: number; what: string }

const everyMs = 100
const text = `select l.pid, l.waitstart::text as since, (extract(epoch from clock_timestamp() - l.waitstart) * 1000)::float8 as ms,
    l.locktype || ' ' || l.mode || ' ' || coalesce(l.relation::regclass::text, '') || ': ' || left(a.query, 120) as what
  from pg_locks l join pg_stat_activity a using (pid)
  where not l.granted and l.waitstart is not null and a.datname = current_database()`

/** Looks all the time until it is told to end. */
export function watchLocks(sql: Pool): { end(): Promise<LockWait[]> } {
  const waits = new Map<string, LockWait>()
  const state = { isEnded: false }
  const watch = async (): Promise<void> => {
    while (!state.isEnded) {
      const { rows } = await sql.query<LockWait & { pid: number; since: string }>(text)
      for (const { pid, since, ms, what } of rows) waits.set(`${pid} ${since}`, { ms, what })
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
  const watching = watch()
  // Who waits for it gets the failure.
  watching.catch(() => undefined)
  return {
    end: async () => {
      state.isEnded = true
      await watching
      return [...waits.values()]
    },
  }
}
