// Inboxes. A statement that reads or marks holds the whole rule by itself: the rows are the caller's in that tenant and
// application, the caller still has the application there, and the rows are neither expired nor out of date, by the clock
// of the database. Each reads its rows in the order of an index, month by month, so that its cost follows the page and
// not the inbox, and no month is touched that cannot hold a row of it.
import { inPlace } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { hasApplication } from '../../policy/has-application.ts'
import type { InboxKey } from './inbox-cursor.pure.ts'
import type { InboxRow } from './inbox-page.pure.ts'

/** Whose inbox. */
export type InboxPlace = { tenantId: string; applicationId: string; userId: string }
export type Mark = 'read' | 'seen'

/** How many unread rows a look for those of one type goes through; what is behind them is the next page's. */
export const maxLookedAt = 2_000

// In every statement: $1 to $3 whose inbox, $4 how long notifications are kept. The first three are lists where a
// statement is shared; `wanted` then holds one of each.
const placeOf = ({ tenantId, applicationId, userId }: InboxPlace) => [tenantId, applicationId, userId]
const placesOf = (places: readonly InboxPlace[]) => [
  places.map(({ tenantId }) => tenantId),
  places.map(({ applicationId }) => applicationId),
  places.map(({ userId }) => userId),
]
const mayRead = hasApplication({ tenantId: '$1', applicationId: '$2', userId: '$3' })
const mayReadWanted = hasApplication({
  tenantId: 'wanted.tenant_id',
  applicationId: 'wanted.application_id',
  userId: 'wanted.user_id',
})
const ownOf = (tenantId: string, applicationId: string, userId: string): string =>
  `r.tenant_id = ${tenantId} and r.application_id = ${applicationId} and r.user_id = ${userId}`
const ownWanted = ownOf('wanted.tenant_id', 'wanted.application_id', 'wanted.user_id')
const kept = 'r.created_at > now() - $4::interval and (r.expires_at is null or r.expires_at > now())'
// The first part leaves out months, which the second does not.
const before = (at: string, id: string): string =>
  `r.created_at <= ${at} and (r.created_at, r.notification_id) < (${at}, ${id})`
const newestFirst = 'order by r.created_at desc, r.notification_id desc'
const columns = 'r.created_at, r.notification_id, r.type, r.expires_at, r.read_at, r.seen_at'

const rowsOf = (condition: string, limit: string): string => `
  select ${columns}, true as matches, false as is_cut from notification_recipients r
  where ${ownWanted} and ${kept} and ${before('wanted.before_at', 'wanted.before_id')} ${condition}
  ${newestFirst} limit ${limit}`

// The function makes the planner take the index by type, whatever the statistics say (see its migration).
const ofType = 'and r.type = wanted.type and notification_has_type(r.type)'
// No index holds both. People have few unread notifications, so these are looked through, up to a number.
const unreadOfType = `
  select ${columns}, r.type is not null and r.type = wanted.type as matches, r.looked_at = ${maxLookedAt} as is_cut
  from (
    select ${columns}, row_number() over (${newestFirst}) as looked_at from (
      ${rowsOf('and r.read_at is null', String(maxLookedAt))}) r) r
  where r.type = wanted.type or r.looked_at = ${maxLookedAt} ${newestFirst} limit $5`

const page = (name: string, rows: string): PreparedStatement => ({
  name: `inbox-${name}`,
  kind: 'read',
  size: 'large',
  text: `
    select wanted.position::int, r.notification_id as id, r.type, r.created_at, r.read_at, r.seen_at, r.expires_at,
      r.matches, r.is_cut, n.title, n.body, n.severity, n.link, n.data
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $6::timestamptz[], $7::uuid[], $8::text[])
      with ordinality as wanted (tenant_id, application_id, user_id, before_at, before_id, type, position)
    cross join lateral (select where ${mayReadWanted} offset 0) permitted
    cross join lateral (${rows}) r
    left join lateral (
      select n.title, n.body, n.severity, n.link, n.data::text as data from notifications n
      where n.created_at = r.created_at and n.id = r.notification_id and n.created_at > now() - $4::interval
      limit 1
    ) n on true
    order by wanted.position, r.created_at desc, r.notification_id desc`,
})

/** By whether only unread rows, and only those of a type, are wanted. */
export const pages = {
  all: page('page', rowsOf('', '$5')),
  unread: page('page-unread', rowsOf('and r.read_at is null', '$5')),
  ofType: page('page-of-type', rowsOf(ofType, '$5')),
  unreadOfType: page('page-unread-of-type', unreadOfType),
}
export type PageKind = keyof typeof pages

/** A page of an inbox: the newest rows before a place. */
export type PageKey = { place: InboxPlace; before: InboxKey; type: string | null }

/** The values of a statement for pages. */
export const pageValues = (keys: readonly PageKey[], kept: string, count: number): unknown[] => [
  ...placesOf(keys.map(({ place }) => place)),
  kept,
  count,
  keys.map((key) => key.before.createdAt),
  keys.map((key) => key.before.id),
  keys.map(({ type }) => type),
]

/** The rows of each page, in this order; at most `count` of each. */
export async function readPages(
  run: RunPrepared,
  keys: readonly PageKey[],
  { kind, kept, count }: { kind: PageKind; kept: string; count: number },
): Promise<InboxRow[][]> {
  const found = keys.map((): InboxRow[] => [])
  const rows = await run<InboxRow & { position: number }>(pages[kind], pageValues(keys, kept, count))
  for (const row of rows) found[row.position - 1]?.push(row)
  return found
}

/** Whether there is an unread row, for any number of inboxes. */
export const unreadProbe: PreparedStatement = {
  name: 'inbox-unread',
  kind: 'read',
  text: `
    select wanted.position::int, case when ${mayReadWanted} then (
      select true from notification_recipients r where ${ownWanted} and r.read_at is null and ${kept}
      ${newestFirst} limit 1) end as unread
    from unnest($1::uuid[], $2::uuid[], $3::uuid[])
      with ordinality as wanted (tenant_id, application_id, user_id, position)`,
}

/** Whether each of the inboxes holds something unread, in this order. */
export async function readUnread(
  run: RunPrepared,
  places: readonly InboxPlace[],
  kept: string,
): Promise<({ unread: boolean | null } | null)[]> {
  const values = [...placesOf(places), kept]
  return inPlace(places.length, await run<{ unread: boolean | null; position: number }>(unreadProbe, values))
}

// The whole key comes from what is joined, and nothing of it is a parameter: so the rows can only be looked up one by one.
const sameRow = ['tenant_id', 'application_id', 'user_id', 'created_at', 'notification_id']
  .map((column) => `r.${column} = wanted.${column}`)
  .join(' and ')
const marked = {
  read: { unmarked: 'r.read_at is null', set: 'read_at = now(), seen_at = coalesce(r.seen_at, now())' },
  seen: { unmarked: 'r.seen_at is null', set: 'seen_at = now()' },
}

const markOf = (mark: Mark): PreparedStatement => ({
  name: `inbox-mark-${mark}`,
  kind: 'write',
  text: `
    with wanted as materialized (
      select $1::uuid as tenant_id, $2::uuid as application_id, $3::uuid as user_id, ids.created_at, ids.notification_id
      from unnest($5::timestamptz[], $6::uuid[]) as ids (created_at, notification_id) where ${mayRead}
    )
    update notification_recipients r set ${marked[mark].set} from wanted
    where ${sameRow} and ${marked[mark].unmarked} and ${kept}
    returning r.notification_id as id`,
})
export const marks = { read: markOf('read'), seen: markOf('seen') }

/**
 * Marks the rows of these ids that are not marked yet; returns their ids. Keys come newest first: rows are locked in this
 * order by every statement, so that two never wait for each other in a circle.
 */
export async function markRows(
  run: RunPrepared,
  place: InboxPlace,
  { mark, keys, kept }: { mark: Mark; keys: readonly InboxKey[]; kept: string },
): Promise<string[]> {
  const values = [keys.map(({ createdAt }) => createdAt), keys.map(({ id }) => id)]
  const rows = await run<{ id: string }>(marks[mark], [...placeOf(place), kept, ...values])
  return rows.map(({ id }) => id)
}

export const markAll: PreparedStatement = {
  name: 'inbox-mark-all-read',
  kind: 'write',
  text: `
    with wanted as materialized (
      select r.tenant_id, r.application_id, r.user_id, r.created_at, r.notification_id from notification_recipients r
      where ${mayRead} and ${ownOf('$1', '$2', '$3')} and ${kept}
        and ${before('$5::timestamptz', '$6::uuid')} and r.read_at is null
      ${newestFirst} limit $7 for no key update of r
    ), marked as (
      update notification_recipients r set ${marked.read.set} from wanted where ${sameRow}
      returning r.notification_id as id
    )
    select count(*)::int as updated, min(marked.id::text collate "C") as oldest from marked`,
}

/** Marks the newest unread rows before a place as read, at most `count`; returns how many, and the oldest of them. */
export async function markUnreadBefore(
  run: RunPrepared,
  place: InboxPlace,
  wanted: { before: InboxKey; count: number; kept: string },
): Promise<{ updated: number; oldest: string | null }> {
  const values = [wanted.kept, wanted.before.createdAt, wanted.before.id, wanted.count]
  const [row] = await run<{ updated: number; oldest: string | null }>(markAll, [...placeOf(place), ...values])
  return row ?? { updated: 0, oldest: null }
}
