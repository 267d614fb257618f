// These statements read and mark inboxes. Each statement enforces the complete rule itself: the rows belong to the
// caller in that tenant and application, and the caller still has access. Rows that exceed the retention period and
// expired rows are excluded, by the database clock. Each statement reads its rows in index order, month by month, and
// skips months that cannot contain matching rows. Its cost therefore depends on the page size, not on the inbox size.
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { buildHasApplicationSql } from '../../policy/has-application.ts'
import type { InboxKey } from './inbox-cursor.pure.ts'
import type { InboxRow } from './inbox-page.pure.ts'

/** Identifies an inbox. */
export type InboxId = { tenantId: string; applicationId: string; userId: string }
export type Mark = 'read' | 'seen'

/** Maximum number of unread rows that a search by type scans. The next page continues the scan. */
export const maxScannedRows = 2_000

// In every statement, $1 to $3 identify the inbox and $4 is the retention period. Statements for several
// inboxes accept arrays in $1 to $3, and each row of `wanted` is one inbox.
const getInboxValues = ({ tenantId, applicationId, userId }: InboxId) => [tenantId, applicationId, userId]
const getInboxColumns = (inboxIds: readonly InboxId[]) => [
  inboxIds.map(({ tenantId }) => tenantId),
  inboxIds.map(({ applicationId }) => applicationId),
  inboxIds.map(({ userId }) => userId),
]
const canRead = buildHasApplicationSql({ tenantId: '$1', applicationId: '$2', userId: '$3' })
export const canReadWanted = buildHasApplicationSql({
  tenantId: 'wanted.tenant_id',
  applicationId: 'wanted.application_id',
  userId: 'wanted.user_id',
})
const buildOwnerCondition = (tenantId: string, applicationId: string, userId: string): string =>
  `r.tenant_id = ${tenantId} and r.application_id = ${applicationId} and r.user_id = ${userId}`
export const isOwnRow = buildOwnerCondition('wanted.tenant_id', 'wanted.application_id', 'wanted.user_id')
export const isRetained =
  'r.created_at > now() - $4::interval and (r.expires_at is null or r.expires_at > now())'
// The first comparison is redundant, but the planner needs it to skip months.
const buildBeforeCondition = (at: string, id: string): string =>
  `r.created_at <= ${at} and (r.created_at, r.notification_id) < (${at}, ${id})`
export const newestFirst = 'order by r.created_at desc, r.notification_id desc'
const columns = 'r.created_at, r.notification_id, r.type, r.expires_at, r.read_at, r.seen_at'

const buildRowsQuery = (condition: string, limit: string): string => `
  select ${columns}, true as matches, false as reached_scan_limit from notification_recipients r
  where ${isOwnRow} and ${isRetained} and ${buildBeforeCondition('wanted.before_at', 'wanted.before_id')} ${condition}
  ${newestFirst} limit ${limit}`

// The function makes the planner use the type index regardless of statistics (see its migration).
const typeCondition = 'and r.type = wanted.type and notification_has_type(r.type)'
// No index covers both conditions. Users have few unread notifications, so the statement scans a limited
// number of unread rows.
const buildUnreadOfTypeQuery = (maxScanned: string, within: string): string => `
  select ${columns}, r.type is not null and r.type = wanted.type as matches,
    r.scanned = ${maxScanned} as reached_scan_limit
  from (
    select ${columns}, row_number() over (${newestFirst}) as scanned from (
      ${buildRowsQuery(`and r.read_at is null ${within}`, maxScanned)}) r) r
  where r.type = wanted.type or r.scanned = ${maxScanned} ${newestFirst} limit $5`

/**
 * Builds the queries for the rows of the inbox `wanted`, by filter: all rows, unread rows only, rows of one type only,
 * or both. The last query scans at most `maxScanned` rows. All queries add the condition `within`.
 */
export const buildRowQueries = (maxScanned: string, within = '') => ({
  all: buildRowsQuery(within, '$5'),
  unread: buildRowsQuery(`and r.read_at is null ${within}`, '$5'),
  ofType: buildRowsQuery(`${typeCondition} ${within}`, '$5'),
  unreadOfType: buildUnreadOfTypeQuery(maxScanned, within),
})
const rowQueries = buildRowQueries(String(maxScannedRows))

const createPageStatement = (name: string, rows: string): PreparedStatement => ({
  name: `inbox-${name}`,
  kind: 'read',
  size: 'large',
  text: `
    select wanted.position::int, r.notification_id as id, r.type, r.created_at, r.read_at, r.seen_at, r.expires_at,
      r.matches, r.reached_scan_limit, n.title, n.body, n.severity, n.link, n.data
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $6::timestamptz[], $7::uuid[], $8::text[])
      with ordinality as wanted (tenant_id, application_id, user_id, before_at, before_id, type, position)
    cross join lateral (select where ${canReadWanted} offset 0) permitted
    cross join lateral (${rows}) r
    left join lateral (
      select n.title, n.body, n.severity, n.link, n.data::text as data from notifications n
      where n.created_at = r.created_at and n.id = r.notification_id and n.created_at > now() - $4::interval
      limit 1
    ) n on true
    order by wanted.position, r.created_at desc, r.notification_id desc`,
})

/** Page statements by filter. */
export const pages = {
  all: createPageStatement('page', rowQueries.all),
  unread: createPageStatement('page-unread', rowQueries.unread),
  ofType: createPageStatement('page-of-type', rowQueries.ofType),
  unreadOfType: createPageStatement('page-unread-of-type', rowQueries.unreadOfType),
}
export type PageKind = keyof typeof pages

/** Returns the filter that selects unread rows, rows of a type, or both. */
export const getPageKind = (unread: boolean, type: string | null): PageKind =>
  type === null ? (unread ? 'unread' : 'all') : unread ? 'unreadOfType' : 'ofType'

/** A page request: the newest rows of an inbox before a position. */
export type PageKey = { inboxId: InboxId; before: InboxKey; type: string | null }

/** Returns the parameters of a page statement. */
export const createPageValues = (keys: readonly PageKey[], kept: string, count: number): unknown[] => [
  ...getInboxColumns(keys.map(({ inboxId }) => inboxId)),
  kept,
  count,
  keys.map((key) => key.before.createdAt),
  keys.map((key) => key.before.id),
  keys.map(({ type }) => type),
]

/** Returns the rows of each page, at most `count` per page, in the order of the keys. */
export async function readPages(
  run: RunPrepared,
  keys: readonly PageKey[],
  { kind, kept, count }: { kind: PageKind; kept: string; count: number },
): Promise<InboxRow[][]> {
  const pageRows = keys.map((): InboxRow[] => [])
  const rows = await run<InboxRow & { position: number }>(pages[kind], createPageValues(keys, kept, count))
  for (const row of rows) pageRows[row.position - 1]?.push(row)
  return pageRows
}

/** Checks any number of inboxes for an unread row. */
export const unreadProbe: PreparedStatement = {
  name: 'inbox-unread',
  kind: 'read',
  text: `
    select wanted.position::int, case when ${canReadWanted} then (
      select true from notification_recipients r where ${isOwnRow} and r.read_at is null and ${isRetained}
      ${newestFirst} limit 1) end as unread
    from unnest($1::uuid[], $2::uuid[], $3::uuid[])
      with ordinality as wanted (tenant_id, application_id, user_id, position)`,
}

/** Returns the unread flag of each inbox, in input order. */
export async function readUnread(
  run: RunPrepared,
  inboxIds: readonly InboxId[],
  kept: string,
): Promise<({ unread: boolean | null } | null)[]> {
  const values = [...getInboxColumns(inboxIds), kept]
  return orderByPosition(
    inboxIds.length,
    await run<{ unread: boolean | null; position: number }>(unreadProbe, values),
  )
}

// All key columns are columns of the joined rows, not parameters, so that the planner can only look up the rows one by
// one.
const isSameRow = ['tenant_id', 'application_id', 'user_id', 'created_at', 'notification_id']
  .map((column) => `r.${column} = wanted.${column}`)
  .join(' and ')
// Marking an unseen row as read also sets `seen_at`, to the same time as `read_at`. In all other rows, the two times
// differ. The statement uses this difference to count newly seen rows, because RETURNING shows only new values.
const readAt = `case when r.seen_at >= now()::timestamptz(3) then r.seen_at + interval '1 millisecond' else now() end`
const markSql = {
  read: {
    unmarked: 'r.read_at is null',
    set: `read_at = ${readAt}, seen_at = coalesce(r.seen_at, now())`,
    counts: ['count(*) filter (where seen_at = read_at)', 'count(*)'],
  },
  seen: { unmarked: 'r.seen_at is null', set: 'seen_at = now()', counts: ['count(*)', '0'] },
}
const markedColumns = 'r.notification_id as id, r.created_at, r.seen_at, r.read_at'
/** Inserts a row with the new counts instead of updating a shared row, so that users do not wait for each other. */
const buildCountSql = (mark: Mark): string => `
    insert into notification_count_changes (application_id, day, seen, read)
    select $2::uuid, date_trunc('day', created_at, 'UTC'), ${markSql[mark].counts.join(', ')}
    from marked group by 2`

const createMarkStatement = (mark: Mark): PreparedStatement => ({
  name: `inbox-mark-${mark}`,
  kind: 'write',
  text: `
    with wanted as materialized (
      select $1::uuid as tenant_id, $2::uuid as application_id, $3::uuid as user_id, ids.created_at, ids.notification_id
      from unnest($5::timestamptz[], $6::uuid[]) as ids (created_at, notification_id) where ${canRead}
    ), marked as (
      update notification_recipients r set ${markSql[mark].set} from wanted
      where ${isSameRow} and ${markSql[mark].unmarked} and ${isRetained}
      returning ${markedColumns}
    ), counted as (${buildCountSql(mark)})
    select id from marked`,
})
export const marks = { read: createMarkStatement('read'), seen: createMarkStatement('seen') }

/**
 * Marks the rows with these ids that are not marked yet, and returns their ids. The keys must be sorted newest first:
 * every statement locks rows in this order, which prevents deadlocks.
 */
export async function markRows(
  run: RunPrepared,
  inboxId: InboxId,
  { mark, keys, kept }: { mark: Mark; keys: readonly InboxKey[]; kept: string },
): Promise<string[]> {
  const values = [keys.map(({ createdAt }) => createdAt), keys.map(({ id }) => id)]
  const rows = await run<{ id: string }>(marks[mark], [...getInboxValues(inboxId), kept, ...values])
  return rows.map(({ id }) => id)
}

export const markAll: PreparedStatement = {
  name: 'inbox-mark-all-read',
  kind: 'write',
  text: `
    with wanted as materialized (
      select r.tenant_id, r.application_id, r.user_id, r.created_at, r.notification_id from notification_recipients r
      where ${canRead} and ${buildOwnerCondition('$1', '$2', '$3')} and ${isRetained}
        and ${buildBeforeCondition('$5::timestamptz', '$6::uuid')} and r.read_at is null
      ${newestFirst} limit $7 for no key update of r
    ), marked as (
      update notification_recipients r set ${markSql.read.set} from wanted where ${isSameRow}
      returning ${markedColumns}
    ), counted as (${buildCountSql('read')})
    select count(*)::int as updated, min(marked.id::text collate "C") as oldest from marked`,
}

/**
 * Marks at most `count` of the newest unread rows before a position as read. Returns their number and the oldest id.
 */
export async function markUnreadBefore(
  run: RunPrepared,
  inboxId: InboxId,
  range: { before: InboxKey; count: number; kept: string },
): Promise<{ updated: number; oldest: string | null }> {
  const values = [range.kept, range.before.createdAt, range.before.id, range.count]
  const [row] = await run<{ updated: number; oldest: string | null }>(markAll, [
    ...getInboxValues(inboxId),
    ...values,
  ])
  return row ?? { updated: 0, oldest: null }
}
