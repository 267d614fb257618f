// Reads pages of the runs of one trigger by cursor, newest first. The primary key orders the runs of a trigger.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../platform/postgres/handles.ts'
import {
  type LogQuery,
  type ScannedPage,
  createWindowSql,
  maxScannedRows,
} from '../../platform/lists/log-page.ts'
import { type TriggerRun, forceOrderedScans, runColumns } from './trigger-runs.store.ts'

/** Selects the runs to return. A field that is null does not restrict the selection. */
export type RunSelection = { triggerId: string; environmentId: string | null; outcome: string | null }

type ScanSummary = { scanned: number; lastScheduledAt: string | null; lastEnvironmentId: string | null }

/** Returns the matching runs, newest first. One run more than the page size shows that another page exists. */
export function readRunPage(
  db: Db,
  selection: RunSelection,
  query: LogQuery,
): Promise<ScannedPage<TriggerRun>> {
  const { limit } = query
  const hasResidual = selection.environmentId !== null || selection.outcome !== null
  const scanLimit = hasResidual ? maxScannedRows : limit + 1
  return db.transaction(async (tx) => {
    await forceOrderedScans.execute(tx)
    const { rows } = await sql<ScanSummary & TriggerRun>`
      with ${createScanSql(selection, query, scanLimit)},
      summary as (
        select count(*)::int as scanned, (array_agg(scheduled_at order by position desc))[1] as last_scheduled_at,
          (array_agg(environment_id order by position desc))[1] as last_environment_id
        from scanned)
      select summary.*, found.* from summary left join lateral (
        select ${runColumns}, position from scanned where ${createResidualSql(selection)}
        order by position limit ${limit + 1}
      ) found on true order by found.position`.execute(tx)
    const [summary] = rows
    const isCut = hasResidual && summary?.scanned === scanLimit
    return {
      rows: rows.filter(({ id }) => (id as string | null) !== null),
      scannedTo: isCut ? [summary.lastScheduledAt as string, summary.lastEnvironmentId as string] : null,
    }
  })
}

/** Counts the matching runs among the newest runs. The count is exact if the scan covered all runs. */
export function countRuns(
  db: Db,
  selection: RunSelection,
  query: LogQuery,
): Promise<{ count: number; isExact: boolean }> {
  return db.transaction(async (tx) => {
    await forceOrderedScans.execute(tx)
    const { rows } = await sql<{ count: number; scanned: number }>`
      with ${createScanSql(selection, { ...query, after: null }, maxScannedRows + 1)}
      select count(*)::int as scanned, (count(*) filter (where ${createResidualSql(selection)}))::int as count
      from scanned`.execute(tx)
    const { count = 0, scanned = 0 } = rows[0] ?? {}
    return { count: Math.min(count, maxScannedRows), isExact: scanned <= maxScannedRows }
  })
}

/** Returns the CTE `scanned`: the newest runs after the cursor, newest first. */
function createScanSql(
  { triggerId }: RunSelection,
  { window, after }: LogQuery,
  scanLimit: number,
): RawBuilder<unknown> {
  const afterCursorSql =
    after === null
      ? sql``
      : sql`and (scheduled_at, environment_id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`
  return sql`scanned as materialized (
    select ${runColumns}, row_number() over (order by scheduled_at desc, environment_id desc) as position
    from trigger_runs
    where trigger_id = ${triggerId} ${createWindowSql(sql`scheduled_at`, window)} ${afterCursorSql}
    order by scheduled_at desc, environment_id desc limit ${scanLimit})`
}

const createResidualSql = ({ environmentId, outcome }: RunSelection): RawBuilder<unknown> =>
  sql`(${environmentId}::uuid is null or environment_id = ${environmentId}::uuid)
    and (${outcome}::text is null or outcome = ${outcome}::text)`
