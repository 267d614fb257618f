// Pages of one audit chain by cursor. The sequence number orders the chain, and its index also finds the window of time.
import { type RawBuilder, sql } from 'kysely'
import type { Reads } from '../../platform/postgres/handles.ts'
import type { Page } from '../../platform/lists/filters.ts'
import {
  type LogQuery,
  type ScannedPage,
  createTextSql,
  createWindowSql,
  maxScannedRows,
} from '../../platform/lists/log-page.ts'
import { createFilterSql } from '../../platform/lists/page.ts'
import { createColumnQualifier } from '../../platform/lists/position.ts'
import { type AuditRow, auditColumns } from './audit.store.ts'

// The index by time covers all chains. Without it, the planner reads the rows in the order of the chain.
const computedTime = sql`created_at + interval '0'`

/** A chain with the conditions that an index supports, and all other filters. */
export type AuditSelection = { chainId: string; entityId: string | null; userId: string | null; page: Page }

// Rows are stamped before they wait for the head of the chain, so the times of neighbors can be out of order. The wait
// ends within the timeout of a statement.
const maxDisorder = '2 minutes'

/** Returns the rows that match, newest first, at most one more than the page size. */
export async function readAuditPage(
  db: Reads,
  selection: AuditSelection,
  query: LogQuery,
): Promise<ScannedPage<AuditRow>> {
  const { limit } = query
  const residual = createResidualSql(selection, query)
  const scanLimit = residual === null ? limit + 1 : maxScannedRows
  const ref = createColumnQualifier('auditLogs')
  const { rows } = await sql<AuditRow & { scanned: number; lastSeq: string | null }>`
    with ${createScan(selection, query, scanLimit)},
    summary as (select count(*)::int as scanned, min(seq) as last_seq from scanned)
    select summary.*, found.* from summary left join lateral (
      select whole.* from (
        select seq from scanned where true ${residual ?? sql``} order by seq desc limit ${limit + 1}
      ) key
      cross join lateral (
        select ${sql.join(auditColumns.map(ref))} from audit_logs
        where audit_logs.chain_id = ${selection.chainId} and audit_logs.seq = key.seq limit 1
      ) whole
    ) found on true order by found.seq desc`.execute(db)
  const [summary] = rows
  const isCut = residual !== null && summary?.scanned === scanLimit && typeof summary.lastSeq === 'string'
  return {
    rows: rows.flatMap(({ scanned: _scanned, lastSeq: _lastSeq, ...row }) =>
      (row.id as string | null) === null ? [] : [row],
    ),
    scannedTo: isCut ? [summary.lastSeq as string] : null,
  }
}

/** Counts the matching rows among the newest ones. The count is exact if it read the whole chain. */
export async function countAuditRows(
  db: Reads,
  selection: AuditSelection,
  query: LogQuery,
): Promise<{ count: number; isExact: boolean }> {
  const { rows } = await sql<{ count: number; scanned: number }>`
    with ${createScan(selection, { ...query, after: null }, maxScannedRows + 1)}
    select count(*)::int as scanned,
      (count(*) filter (where true ${createResidualSql(selection, query) ?? sql``}))::int as count
    from scanned`.execute(db)
  const { count = 0, scanned = 0 } = rows[0] ?? {}
  return { count: Math.min(count, maxScannedRows), isExact: scanned <= maxScannedRows }
}

/** Returns the CTE `scanned`: the newest rows behind the cursor that may match, with the columns of the filters. */
function createScan(
  { chainId, entityId, userId }: AuditSelection,
  { window, after }: LogQuery,
  scanLimit: number,
): RawBuilder<unknown> {
  const bounds = [
    ...(window.from === null ? [] : [sql`and seq > ${findSeqBefore(chainId, window.from, '-')}`]),
    ...(window.to === null ? [] : [sql`and seq <= ${findSeqBefore(chainId, window.to, '+')} + 1`]),
    ...(after === null ? [] : [sql`and seq < ${after[0]}::bigint`]),
    ...(entityId === null ? [] : [sql`and entity_id = ${entityId}`]),
    ...(userId === null ? [] : [sql`and user_id = ${userId}::uuid`]),
  ]
  return sql`scanned as materialized (
    select id, seq, entity_type, entity_id, action, description, principal_type, principal_id, user_id, created_at
    from audit_logs where chain_id = ${chainId} ${sql.join(bounds, sql` `)} ${createWindowSql(computedTime, window)}
    order by seq desc limit ${scanLimit})`
}

/**
 * Returns a subquery that finds, by bisection, the last row that was written before a time. Each step reads one row by
 * its sequence number.
 */
const findSeqBefore = (chainId: string, time: string, sign: '-' | '+'): RawBuilder<unknown> => sql`(
  with recursive bisection (low, high) as (
    select 0::bigint, coalesce((select seq + 1 from audit_chains where chain_id = ${chainId}), 1)
    union all
    select case when probe.is_before then middle else low end, case when probe.is_before then high else middle end
    from bisection
    cross join lateral (select (low + high) / 2 as middle) halves
    cross join lateral (
      select coalesce((select created_at < ${time}::timestamptz ${sql.raw(sign)} interval '${sql.raw(maxDisorder)}'
        from audit_logs where chain_id = ${chainId} and seq = middle), true) as is_before
    ) probe
    where high - low > 1
  )
  select max(low) from bisection)`

/** Returns the conditions that no index supports, each preceded by `and`; null if there are none. */
function createResidualSql({ page }: AuditSelection, { pattern }: LogQuery): RawBuilder<unknown> | null {
  if (page.filters.length === 0 && pattern === null) return null
  const ref = createColumnQualifier('scanned')
  return sql`${createFilterSql(page, ref)}
    ${createTextSql([ref('description'), ref('entityId'), ref('principalId')], pattern)}`
}
