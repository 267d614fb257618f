// This service reads and marks all inboxes of the caller together, across tenants and applications. The routes of the
// inbox serve one tenant and application, which the proxy sets.
import type { Actor } from '../../policy/actor.ts'
import { authorize } from '../../policy/authorize.ts'
import { badRequest } from '../../platform/errors.ts'
import { checkText } from '../../platform/inputs/inputs.ts'
import { type TimeBounds, readTimeWindow } from '../../platform/inputs/time-window.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type InboxKey, decodeCursor, parseInboxKey, startOfInbox } from './inbox-cursor.pure.ts'
import { selectPage } from './inbox-page.pure.ts'
import { type InboxId, type InboxService, defaultMaxMarked } from './inbox.service.ts'
import { getPageKind, readUnread } from './inbox.store.ts'
import * as store from './own-inboxes.store.ts'

export type OwnInboxesDeps = {
  database: Pick<Database, 'run'>
  retentionDays: number
  inbox: Pick<InboxService, 'mark'>
  /** Maximum number of rows that one request marks, by default 100,000. */
  maxMarked?: number
}
export type OwnInboxesService = ReturnType<typeof createOwnInboxesService>

export type Notification = {
  id: string
  tenantId: string
  applicationId: string
  type: string | null
  title: string | null
  severity: string
  link: string | null
  createdAt: string
  read: boolean
  readAt: string | null
  seen: boolean
  seenAt: string | null
  expiresAt: string | null
  bodyBytes: number | null
  dataBytes: number | null
}
export type NotificationConnection = {
  nodes: Notification[]
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
  isComplete: boolean
}
/** Arguments as GraphQL passes them: an absent argument can be null. */
export type PageArgs = TimeBounds & {
  first?: number | null
  after?: string | null
  unread?: boolean | null
  type?: string | null
  projectId?: string | null
}
export type MarkArgs = {
  ids?: readonly string[] | null
  all?: boolean | null
  projectId?: string | null
  connectionId?: string | null
}
export type MarkedNotifications = { updated: number; isComplete: boolean }

/** Maximum number of inboxes that one request reads: each costs a few index lookups. */
export const maxInboxes = 200
const maxPageSize = 100
/** No notification precedes this id within the same millisecond. */
const lowestId = '00000000-0000-0000-0000-000000000000'
const maxIds = 500

/** Creates the service. An inbox counts as empty if the caller has lost access to it. */
export function createOwnInboxesService(deps: OwnInboxesDeps) {
  const { database, retentionDays } = deps
  const kept = `${retentionDays * 24} hours`
  const list = createInboxReader(database)
  const markInTurn = createOwnMarker(deps, kept)
  return {
    /** Returns the newest notifications of all inboxes, or of the inboxes in one project. */
    page: async (actor: Actor, args: PageArgs): Promise<NotificationConnection> => {
      const { first, after, before, from, type, unread } = checkPage(args)
      const { inboxes, isComplete } = await list(actor, args.projectId ?? null)
      const kind = getPageKind(unread, type)
      const request = { kind, inboxes, userId: actor.user.id, before, from, type, kept, count: first + 1 }
      const rows = inboxes.length === 0 ? [] : await store.readMergedPage(database.run, request)
      const { items, hasMore, startCursor, endCursor } = selectPage(rows, first)
      return {
        nodes: items.map(toNotification),
        pageInfo: { hasNextPage: hasMore, hasPreviousPage: after !== null, startCursor, endCursor },
        isComplete,
      }
    },

    /** Returns true if an inbox contains an unread notification. */
    isUnread: async (actor: Actor): Promise<boolean> => {
      const { inboxes } = await list(actor, null)
      return inboxes.length > 0 && store.hasAnyUnread(database.run, actor.user.id, { inboxes, kept })
    },

    /** Marks notifications as read and sends a hint to the other sockets of the caller. */
    markRead: async (actor: Actor, args: MarkArgs): Promise<MarkedNotifications> => {
      const { ids, projectId, connectionId } = checkMarks(args)
      if (ids !== null) return markInTurn.ids(actor.user.id, ids, connectionId)
      const { inboxes, isComplete } = await list(actor, projectId)
      const marked = await markInTurn.all(inboxes, connectionId)
      return { ...marked, isComplete: marked.isComplete && isComplete }
    },

    /** Returns a long text of each notification, in the order of the ids. */
    findContents: async (part: store.ContentPart, ids: readonly string[]): Promise<(string | null)[]> => {
      const contents = await store.readContents(database.run, part, parseKeys(ids))
      return ids.map((id) => contents.get(id) ?? null)
    },
  }
}

/** Returns a function that lists the inboxes of the caller. A project that the caller cannot see is "not found". */
const createInboxReader =
  ({ run }: Pick<Database, 'run'>) =>
  async (actor: Actor, projectId: string | null) => {
    if (projectId !== null)
      await authorize(actor, { do: 'PROJECT_VIEW', on: ['projectId'], in: 'PROJECT' }, [projectId])
    const locatedNotifications = await store.listInboxes(run, actor.user.id, {
      projectId,
      count: maxInboxes + 1,
    })
    return {
      inboxes: locatedNotifications.slice(0, maxInboxes),
      isComplete: locatedNotifications.length <= maxInboxes,
    }
  }

function createOwnMarker(
  { database: { run }, inbox, maxMarked = defaultMaxMarked }: OwnInboxesDeps,
  kept: string,
) {
  return {
    /** Marks these notifications. Ids of other users and unknown ids are ignored. */
    ids: async (userId: string, ids: readonly string[], connectionId: string | null) => {
      const keys = parseKeys(ids)
      const found = keys.length === 0 ? [] : await store.locateNotifications(run, keys)
      let updated = 0
      for (const group of Map.groupBy(found, (row) => row.tenantId + row.applicationId).values()) {
        const { tenantId, applicationId } = group[0] as (typeof found)[number]
        const marked = { ids: group.map(({ id }) => id) }
        updated += await inbox.mark(
          { tenantId, applicationId, userId },
          { mark: 'read', marked, connectionId },
        )
      }
      return { updated, isComplete: true }
    },

    /** Marks the unread rows of these inboxes, newest first in each inbox. */
    all: async (inboxes: readonly InboxId[], connectionId: string | null) => {
      const flags = inboxes.length === 0 ? [] : await readUnread(run, inboxes, kept)
      const marked = { all: true as const }
      let updated = 0
      for (const inboxId of inboxes.filter((_, index) => flags[index]?.unread === true)) {
        const remaining = maxMarked - updated
        if (remaining <= 0) return { updated, isComplete: false }
        updated += await inbox.mark(inboxId, { mark: 'read', marked, connectionId, maxMarked: remaining })
      }
      return { updated, isComplete: updated < maxMarked }
    },
  }
}

function checkPage({ first, after, unread, type, ...bounds }: PageArgs) {
  const size = first ?? 20
  if (size < 1 || size > maxPageSize) throw badRequest(`first must be from 1 to ${maxPageSize}`)
  const cursor = after === undefined || after === null || after === '' ? null : readCursor(after)
  const wantedType = checkText(type ?? '', 'type', 100)
  const { from, to } = readTimeWindow(bounds)
  const end = to === null ? startOfInbox : { createdAt: to, id: lowestId }
  return {
    first: size,
    after: cursor,
    before: cursor === null || (to !== null && to <= cursor.createdAt) ? end : cursor,
    from,
    type: wantedType === '' ? null : wantedType,
    unread: unread === true,
  }
}

function readCursor(after: string): InboxKey {
  const cursor = decodeCursor(after)
  if (cursor === null)
    throw badRequest('after is not a valid cursor; use endCursor of the previous page, or no cursor')
  return cursor
}

function checkMarks({ ids = null, all, projectId = null, connectionId = null }: MarkArgs) {
  if (ids !== null && all === true) throw badRequest('send either ids or all, not both')
  if (ids === null && all !== true) throw badRequest('send ids, or all: true')
  if (ids !== null && projectId !== null)
    throw badRequest('projectId applies only to all; send ids without projectId')
  if (ids !== null && (ids.length === 0 || ids.length > maxIds))
    throw badRequest(`ids must have 1 to ${maxIds} entries; send more in several requests`)
  if (connectionId !== null) checkText(connectionId, 'connectionId', 100)
  return { ids, projectId, connectionId }
}

/** Returns the positions of the ids that a notification can have, without duplicates. */
const parseKeys = (ids: readonly string[]): InboxKey[] =>
  [...new Set(ids)].map(parseInboxKey).filter((key) => key !== null)

const toNotification = (row: store.OwnInboxRow): Notification => ({
  id: row.id,
  tenantId: row.tenant_id,
  applicationId: row.application_id,
  type: row.type,
  title: row.title,
  severity: row.severity ?? 'info',
  link: row.link,
  createdAt: row.created_at,
  read: row.read_at !== null,
  readAt: row.read_at,
  seen: row.seen_at !== null,
  seenAt: row.seen_at,
  expiresAt: row.expires_at,
  bodyBytes: row.body_bytes,
  dataBytes: row.data_bytes,
})
