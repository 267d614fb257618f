// Counts the rows that statements of a service read from a table, by the statistics of PostgreSQL.
import type { TestApp } from './app.ts'

const reportGapMs = 2_000

/**
 * Returns how many rows of the table `run` reads, by sequential scans and through indexes. `touch` sends a request that reads
 * little: the connections of the service report their counts with the next statement, at most once a second.
 */
export async function countTableReads(
  { sql }: Pick<TestApp, 'sql'>,
  table: string,
  run: () => Promise<unknown>,
  touch: () => Promise<unknown>,
): Promise<{ scanned: number; fetched: number }> {
  const read = async () => {
    await sql.query('select pg_stat_clear_snapshot(), pg_stat_force_next_flush()')
    const { rows } = await sql.query<{ scanned: string; fetched: string }>(
      'select seq_tup_read as scanned, coalesce(idx_tup_fetch, 0) as fetched from pg_stat_user_tables where relname = $1',
      [table],
    )
    return { scanned: Number(rows[0]?.scanned), fetched: Number(rows[0]?.fetched) }
  }
  const pause = () => new Promise((resolve) => setTimeout(resolve, reportGapMs))
  const before = await read()
  await run()
  await pause()
  await touch()
  await pause()
  const after = await read()
  return { scanned: after.scanned - before.scanned, fetched: after.fetched - before.fetched }
}
