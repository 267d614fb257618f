// These statements read all inboxes of a user together, for clients that serve several tenants and applications. Each
// statement still checks the access to every inbox. Its cost depends on the number of inboxes and on the page size,
// not on the number of stored notifications.
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import type { InboxKey } from './inbox-cursor.pure.ts'
import type { InboxRow } from './inbox-page.pure.ts'
import {
  type InboxId,
  type PageKind,
  buildRowQueries,
  canReadWanted,
  isOwnRow,
  isRetained,
  newestFirst,
} from './inbox.store.ts'

// The inboxes of tenant memberships are first: most notifications are sent to the members of a tenant. Notifications
// reach project members and administrators only if the sender lists them by id. Each part stops after $2 rows, and its
// order makes repeated calls return the same inboxes. Access is not checked here.
const createListStatement = (name: string, inProject: (column: string) => string): PreparedStatement => ({
  name: `own-inboxes-${name}`,
  kind: 'read',
  text: `
    select tenant_id as "tenantId", application_id as "applicationId" from (
      (select 1 as part, m.project_id, e.tenant_id, e.application_id from user2tenants m
       cross join lateral (
         select tenant_id, application_id from tenant2applications pair where pair.tenant_id = m.tenant_id
         order by pair.application_id limit $2
       ) e
       where m.user_id = $1 ${inProject('m.project_id')} order by m.project_id, m.tenant_id limit $2)
      union all
      (select 2, p.project_id, e.tenant_id, e.application_id from user2projects p
       cross join lateral (
         select tenant_id, application_id from tenant2applications pair where pair.project_id = p.project_id
         order by pair.id limit $2
       ) e
       where p.user_id = $1 ${inProject('p.project_id')} order by p.project_id limit $2)
      union all
      (select 3, e.project_id, e.tenant_id, e.application_id from tenant2applications e
       where (select u.role = 'administrator' from users u where u.id = $1) ${inProject('e.project_id')}
       order by ${inProject('e.project_id') === '' ? 'e.id' : 'e.project_id, e.id'} limit $2)
    ) inboxes
    order by part, project_id, tenant_id, application_id`,
})

/** Lists the inboxes in all projects, or in one project. */
export const listStatements = {
  everywhere: createListStatement('everywhere', () => ''),
  inProject: createListStatement('in-project', (column) => `and ${column} = $3`),
}

/** Returns at least `count` different inboxes, or all inboxes. The caller may have lost access to some of them. */
export async function listInboxes(
  run: RunPrepared,
  userId: string,
  { projectId, count }: { projectId: string | null; count: number },
): Promise<InboxId[]> {
  const rows = await run<Omit<InboxId, 'userId'>>(
    projectId === null ? listStatements.everywhere : listStatements.inProject,
    [userId, count, ...(projectId === null ? [] : [projectId])],
  )
  const inboxes = new Map(rows.map((row) => [row.tenantId + row.applicationId, { ...row, userId }]))
  return [...inboxes.values()]
}

/** A row of a merged page. Texts that can be long are read only if they are requested. */
export type OwnInboxRow = Omit<InboxRow, 'body' | 'data'> & {
  tenant_id: string
  application_id: string
  body_bytes: number | null
  data_bytes: number | null
}

const createMergedStatement = (name: string, rows: string): PreparedStatement => ({
  name: `own-inboxes-${name}`,
  kind: 'read',
  size: 'large',
  text: `
    select r.tenant_id, r.application_id, r.notification_id as id, r.type, r.created_at, r.read_at, r.seen_at,
      r.expires_at, r.matches, r.reached_scan_limit, n.title, n.severity, n.link, n.body_bytes, n.data_bytes
    from (
      select wanted.tenant_id, wanted.application_id, r.* from (
        select inbox.*, $3::uuid as user_id, $6::timestamptz as before_at, $7::uuid as before_id, $8::text as type
        from unnest($1::uuid[], $2::uuid[]) as inbox (tenant_id, application_id)
      ) wanted
      cross join lateral (select where ${canReadWanted} offset 0) permitted
      cross join lateral (${rows}) r
      ${newestFirst} limit $5
    ) r
    left join lateral (
      select n.title, n.severity, n.link, octet_length(n.body) as body_bytes, octet_length(n.data::text) as data_bytes
      from notifications n
      where n.created_at = r.created_at and n.id = r.notification_id and n.created_at > now() - $4::interval
      limit 1
    ) n on true
    ${newestFirst}`,
})

// $9 is the start of the time window, and $10 is the number of rows that a search by type scans in each inbox.
const rowQueries = buildRowQueries('$10', 'and r.created_at >= $9::timestamptz')
/** Merged page statements by filter. */
export const mergedPages = {
  all: createMergedStatement('page', rowQueries.all),
  unread: createMergedStatement('page-unread', rowQueries.unread),
  ofType: createMergedStatement('page-of-type', rowQueries.ofType),
  unreadOfType: createMergedStatement('page-unread-of-type', rowQueries.unreadOfType),
} satisfies Record<PageKind, PreparedStatement>

export type MergedPage = {
  kind: PageKind
  inboxes: readonly InboxId[]
  userId: string
  before: InboxKey
  /** The start of the time window, or null for all rows before the position. */
  from: string | null
  type: string | null
  kept: string
  count: number
}

// The total number of rows that a search by type scans in all inboxes.
const maxScannedRows = 10_000

/** Returns the parameters of a merged page statement. */
export const createMergedValues = (page: MergedPage): unknown[] => [
  ...getPairColumns(page.inboxes),
  page.userId,
  page.kept,
  page.count,
  page.before.createdAt,
  page.before.id,
  page.type,
  page.from ?? '-infinity',
  ...(page.kind === 'unreadOfType'
    ? [Math.max(page.count, Math.floor(maxScannedRows / page.inboxes.length))]
    : []),
]

const getPairColumns = (inboxes: readonly InboxId[]): string[][] => [
  inboxes.map(({ tenantId }) => tenantId),
  inboxes.map(({ applicationId }) => applicationId),
]

/** Returns the newest `count` rows of all these inboxes before a position. */
export const readMergedPage = (run: RunPrepared, page: MergedPage): Promise<OwnInboxRow[]> =>
  run<OwnInboxRow>(mergedPages[page.kind], createMergedValues(page))

/** Finds the first of these inboxes with an unread row. */
export const anyUnreadProbe: PreparedStatement = {
  name: 'own-inboxes-unread',
  kind: 'read',
  text: `
    select true as unread
    from (
      select inbox.*, $3::uuid as user_id from unnest($1::uuid[], $2::uuid[]) as inbox (tenant_id, application_id)
    ) wanted
    cross join lateral (select where ${canReadWanted} offset 0) permitted
    cross join lateral (
      select from notification_recipients r where ${isOwnRow} and r.read_at is null and ${isRetained}
      ${newestFirst} limit 1
    ) r
    limit 1`,
}

/** Returns true if one of these inboxes contains an unread row. */
export async function hasAnyUnread(
  run: RunPrepared,
  userId: string,
  { inboxes, kept }: { inboxes: readonly InboxId[]; kept: string },
): Promise<boolean> {
  return (await run(anyUnreadProbe, [...getPairColumns(inboxes), userId, kept])).length > 0
}

const joinNotifications = `
  from unnest($1::timestamptz[], $2::uuid[]) as wanted (created_at, id)
  cross join lateral (
    select * from notifications n where n.created_at = wanted.created_at and n.id = wanted.id limit 1
  ) n`

const locateStatement: PreparedStatement = {
  name: 'own-inboxes-locate',
  kind: 'read',
  text: `select n.id, n.tenant_id as "tenantId", n.application_id as "applicationId" ${joinNotifications}`,
}

/** Returns the inboxes to which these notifications were sent, regardless of the recipient. */
export const locateNotifications = (run: RunPrepared, keys: readonly InboxKey[]) =>
  run<{ id: string } & Omit<InboxId, 'userId'>>(locateStatement, getKeyColumns(keys))

export type ContentPart = 'body' | 'data'
const createContentStatement = (part: ContentPart): PreparedStatement => ({
  name: `own-inboxes-${part}`,
  kind: 'read',
  size: 'large',
  text: `select n.id, n.${part}::text as content ${joinNotifications}`,
})
const contentStatements = { body: createContentStatement('body'), data: createContentStatement('data') }

/** Returns the bodies or the data of these notifications. The caller has checked the access to them. */
export async function readContents(
  run: RunPrepared,
  part: ContentPart,
  keys: readonly InboxKey[],
): Promise<Map<string, string | null>> {
  const rows = await run<{ id: string; content: string | null }>(contentStatements[part], getKeyColumns(keys))
  return new Map(rows.map(({ id, content }) => [id, content]))
}

const getKeyColumns = (keys: readonly InboxKey[]): string[][] => [
  keys.map(({ createdAt }) => createdAt),
  keys.map(({ id }) => id),
]
