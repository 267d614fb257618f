// Reads pages of an application's logged calls by cursor, newest first. A stream contains the calls of one pair of
// endpoint and machine user, or of one endpoint if the request id is known. An index orders each stream, and a page
// merges the streams.
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../platform/postgres/handles.ts'
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
import type { CallStatus } from './call-status.pure.ts'
import { type LoggedCall, columns, forceIndexScans } from './logged-calls.store.ts'

/** Selects the calls to return. A field that is null does not restrict the selection. */
export type PageSelection = {
  applicationId: string
  endpointId: string | null
  machineUserId: string | null
  requestId: string | null
  status: CallStatus | null
  page: Page
}

/**
 * If no index supports some of the filters, a page reads at most this many streams. The next page continues where the
 * remaining streams start.
 */
const maxStreams = 1_000

const narrowColumns = sql`id, request_id, created_at, endpoint_id, machine_user_id, source_ip, method, path, target_url,
  response_status, duration_ms, transformed, is_test, failure`

/** Returns the matching calls, newest first. One call more than the page size shows that another page exists. */
export async function readCallPage(
  tx: Tx,
  selection: PageSelection,
  query: LogQuery,
): Promise<ScannedPage<LoggedCall>> {
  await forceIndexScans.execute(tx)
  const residual = createResidualSql(selection, query)
  const { rows } = await sql<LoggedCall & { horizonCreatedAt: string | null; horizonId: string | null }>`
    with ${createScanSql(selection, query, residual === null ? query.limit + 1 : null)},
    horizon as (select created_at, id from scanned where position = share or rank > ${maxStreams}
      order by created_at desc, id desc limit 1)
    select horizon.created_at as horizon_created_at, horizon.id as horizon_id, found.*
    from (select) one
    left join horizon on true
    left join lateral (
      select ${columns} from (
        select key.application_id, l.*
        from (
          select application_id, endpoint_id, machine_user_id, created_at, id from scanned
          where (horizon.id is null or (created_at, id) >= (horizon.created_at, horizon.id)) ${residual ?? sql``}
          order by created_at desc, id desc limit ${query.limit + 1}
        ) key
        cross join lateral (
          select * from esb_audit_logs
          where endpoint_id = key.endpoint_id and machine_user_id = key.machine_user_id
            and created_at = key.created_at and id = key.id limit 1
        ) l
      ) whole
    ) found on true
    order by found.created_at desc, found.id desc`.execute(tx)
  const [first] = rows
  const horizon = first?.horizonId ?? null
  return {
    rows: rows.filter(({ id }) => (id as string | null) !== null),
    scannedTo: horizon === null ? null : [first?.horizonCreatedAt as string, horizon],
  }
}

/** Counts the matching calls among the newest calls. The count is exact if the scan covered all calls. */
export async function countCallsOfPage(
  tx: Tx,
  selection: PageSelection,
  query: LogQuery,
): Promise<{ count: number; isExact: boolean }> {
  await forceIndexScans.execute(tx)
  const { rows } = await sql<{ count: number; isExact: boolean }>`
    with ${createScanSql(selection, { ...query, after: null }, null)}
    select (count(*) filter (where true ${createResidualSql(selection, query) ?? sql``}))::int as count,
      count(*) filter (where position = share or rank > ${maxStreams}) = 0 as is_exact
    from scanned`.execute(tx)
  const { count = 0, isExact = true } = rows[0] ?? {}
  return { count: Math.min(count, maxScannedRows), isExact }
}

/**
 * Returns the CTE `scanned`: the newest calls of each stream after the cursor. `rowsPerStream` is the number of rows
 * that the page needs from each stream. If it is null, the streams share the maximum number of rows that a page may
 * read.
 */
function createScanSql(
  selection: PageSelection,
  { window, after, limit }: LogQuery,
  rowsPerStream: number | null,
): RawBuilder<unknown> {
  const { applicationId, endpointId, machineUserId, requestId } = selection
  const usesRequestId = requestId !== null
  const stream = usesRequestId
    ? sql`endpoint_id = s.endpoint_id and request_id = ${requestId}`
    : sql`endpoint_id = s.endpoint_id and machine_user_id = s.machine_user_id`
  const withinSql = sql`${createWindowSql(sql`created_at`, window)}
    ${after === null ? sql`` : sql`and (created_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}`
  const streams = sql`
    select e.application_id, e.id as endpoint_id, ${usesRequestId ? sql`null::uuid` : sql`c.machine_user_id`} as machine_user_id
    from endpoints e ${usesRequestId ? sql`` : sql`join esb_callers c on c.endpoint_id = e.id`}
    where e.application_id = ${applicationId} and (${endpointId}::uuid is null or e.id = ${endpointId}::uuid)
      ${usesRequestId || machineUserId === null ? sql`` : sql`and c.machine_user_id = ${machineUserId}::uuid`}`
  // The newest calls are in the streams with the most recent last call. Streams without calls in the range are not
  // read, and neither are streams beyond the limit.
  const streamLimit = rowsPerStream === null ? maxStreams + 1 : limit + 1
  const share =
    rowsPerStream === null
      ? sql`greatest(1, ${maxScannedRows} / count(*) over ())`
      : sql`${rowsPerStream}::bigint`
  const neededStreams = sql`
    select newest.*, ${share} as share, row_number() over (order by last_at desc, last_id desc) as rank
    from (
      select s.*, last.created_at as last_at, last.id as last_id
      from (${streams}) s
      cross join lateral (
        select created_at, id from esb_audit_logs where ${stream} ${withinSql}
        order by created_at desc, id desc limit 1
      ) last
      order by last.created_at desc, last.id desc limit ${streamLimit}
    ) newest`
  return sql`streams as materialized (${neededStreams}),
  scanned as materialized (
    select s.application_id, s.share, s.rank, l.*
    from streams s cross join lateral (
      select ${narrowColumns}, row_number() over (order by created_at desc, id desc) as position
      from esb_audit_logs where ${stream} ${withinSql}
      order by created_at desc, id desc limit s.share
    ) l)`
}

/** Returns the conditions that no index supports, each preceded by `and`; null if there are none. */
function createResidualSql(
  { page, status, requestId, machineUserId }: PageSelection,
  { pattern }: LogQuery,
): RawBuilder<unknown> | null {
  const isMachineUserResidual = requestId !== null && machineUserId !== null
  if (page.filters.length === 0 && pattern === null && status === null && !isMachineUserResidual) return null
  const ref = createColumnQualifier('scanned')
  return sql`${createFilterSql(page, ref)} ${createStatusSql(status)}
    ${isMachineUserResidual ? sql`and machine_user_id = ${machineUserId}::uuid` : sql``}
    ${createTextSql([ref('path'), ref('targetUrl'), ref('failure')], pattern)}`
}

function createStatusSql(status: CallStatus | null): RawBuilder<unknown> {
  if (status === null) return sql``
  return status === 'failed'
    ? sql`and failure is not null`
    : sql`and response_status between ${status.min} and ${status.max}`
}
