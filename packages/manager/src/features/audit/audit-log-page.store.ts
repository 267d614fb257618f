// Reads pages of one audit chain by cursor. Rows are ordered by sequence number, and the same index finds the rows of a
// time window.
import { type RawBuilder, sql } from 'kysely'
import type { Reads } from '../../platform/postgres/handles.ts'
import type { Page } from '../../platform/lists/filters.ts'
import {
  type LogQuery,
  type ScannedPage,
  createTextSql,
  maxScannedRows,
} from '../../platform/lists/log-page.ts'
import { createFilterSql } from '../../platform/lists/page.ts'
import { createColumnQualifier } from '../../platform/lists/position.ts'
import { type AuditRow, auditColumns } from './audit.store.ts'
import { createChainWindowSql } from './chain-window.store.ts'

/** Selects a chain, the conditions that an index supports, and all other filters. */
export type AuditSelection = { chainId: string; entityId: string | null; userId: string | null; page: Page }

/** Returns the matching rows, newest first. One row more than the page size shows that another page exists. */
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
    with ${createScanSql(selection, query, scanLimit)},
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

/** Counts the matching rows among the newest rows. The count is exact if the scan covered the whole chain. */
export async function countAuditRows(
  db: Reads,
  selection: AuditSelection,
  query: LogQuery,
): Promise<{ count: number; isExact: boolean }> {
  const { rows } = await sql<{ count: number; scanned: number }>`
    with ${createScanSql(selection, { ...query, after: null }, maxScannedRows + 1)}
    select count(*)::int as scanned,
      (count(*) filter (where true ${createResidualSql(selection, query) ?? sql``}))::int as count
    from scanned`.execute(db)
  const { count = 0, scanned = 0 } = rows[0] ?? {}
  return { count: Math.min(count, maxScannedRows), isExact: scanned <= maxScannedRows }
}

/** Returns the CTE `scanned`: the newest rows after the cursor that may match, with the columns that filters need. */
function createScanSql(
  { chainId, entityId, userId }: AuditSelection,
  { window, after }: LogQuery,
  scanLimit: number,
): RawBuilder<unknown> {
  const bounds = [
    ...(after === null ? [] : [sql`and seq < ${after[0]}::bigint`]),
    ...(entityId === null ? [] : [sql`and entity_id = ${entityId}`]),
    ...(userId === null ? [] : [sql`and user_id = ${userId}::uuid`]),
  ]
  return sql`scanned as materialized (
    select id, seq, entity_type, entity_id, action, description, principal_type, principal_id, user_id, created_at
    from audit_logs where chain_id = ${chainId} ${sql.join(bounds, sql` `)} ${createChainWindowSql(chainId, window)}
    order by seq desc limit ${scanLimit})`
}

/** Returns the conditions that no index supports, each preceded by `and`; null if there are none. */
function createResidualSql({ page }: AuditSelection, { pattern }: LogQuery): RawBuilder<unknown> | null {
  if (page.filters.length === 0 && pattern === null) return null
  const ref = createColumnQualifier('scanned')
  return sql`${createFilterSql(page, ref)}
    ${createTextSql([ref('description'), ref('entityId'), ref('principalId')], pattern)}`
}
