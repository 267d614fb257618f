// This service reads and marks the inbox of a user in one tenant and application: pages, the unread flag, and marks.
// The inbox is empty for a user who lost access to the application.
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { badRequest } from '../../platform/errors.ts'
import { hasForbiddenCharacters } from '../../platform/inputs/inputs.ts'
import { type Owners, createFairShare } from '../../platform/throttle/fair-share.ts'
import type { SendHint } from '../live-sockets/index.ts'
import { type InboxKey, decodeCursor, parseInboxKey, startOfInbox } from './inbox-cursor.pure.ts'
import { type InboxRow, emptyPage, buildPageText } from './inbox-page.pure.ts'
import {
  type InboxId,
  type Mark,
  type PageKey,
  type PageKind,
  getPageKind,
  markRows,
  markUnreadBefore,
  readPages,
  readUnread,
} from './inbox.store.ts'
import { type MarkedRows, buildMarkFrame } from './mark-text.pure.ts'

export type InboxDeps = {
  database: Database
  retentionDays: number
  sendHint: SendHint
  /** Maximum number of rows that one request marks, by default 100,000. The client repeats the request to mark more. */
  maxMarked?: number
}
export type InboxService = ReturnType<typeof createInboxService>
export type { InboxId }

/** `cursor` is null for the first page. `type` is null for all types. */
export type PageRequest = { limit: number; cursor: string | null; unread: boolean; type: string | null }
export type MarkRequest = {
  mark: Mark
  /** A list of ids in any case and order, or all unread notifications. */
  marked: MarkedRows
  /**
   * The socket of the requesting tab, which receives no hint. A hint is a best-effort message to open
   * sockets.
   */
  connectionId: string | null
  /** Maximum number of rows to mark if `marked` is all; by default the maximum of the service. */
  maxMarked?: number
}

// One page can be 3 MB in size, which limits the number of pages in a batch.
const maxPagesPerBatch = 8
// Each part is one statement. Parts are small enough to block other statements only briefly, and large enough that an
// inbox needs only a few of them.
const rowsPerPart = 1_000
export const defaultMaxMarked = 100 * rowsPerPart

// Mark requests share their connections with emits, so only one mark request runs at a time. Tenants and their users
// are served in turn.
const markLimits = {
  capacity: 1,
  maxWaiting: 1_000,
  maxWaitMs: 30_000,
  overloadMessage: 'too many mark requests from this user or tenant are queued; try again',
}

export function createInboxService({ database, retentionDays, sendHint, ...options }: InboxDeps) {
  const { maxMarked = defaultMaxMarked } = options
  const kept = `${retentionDays * 24} hours`
  const probeUnread = createCoalescer<InboxId, { unread: boolean | null }>({
    getKey: ({ tenantId, applicationId, userId }) => tenantId + applicationId + userId,
    run: (inboxIds) => readUnread(database.run, inboxIds, kept),
  })
  const readers = new Map<string, (key: PageKey) => Promise<InboxRow[] | null>>()
  /** Returns a reader. Concurrent requests for pages of the same kind and size share a statement. */
  const readPage = (kind: PageKind, limit: number) => {
    const name = `${kind} ${limit}`
    const reader = readers.get(name) ?? createPageReader(database, { kind, kept, count: limit + 1 })
    readers.set(name, reader)
    return reader
  }
  const markRowsInTurn = createMarker(database, kept)
  return {
    /** Returns a page as JSON. Throws 400 if the cursor or the type is invalid. */
    async readPageJson(
      inboxId: InboxId | null,
      { limit, cursor, unread, type }: PageRequest,
    ): Promise<string> {
      const before = cursor === null ? startOfInbox : decodeCursor(cursor)
      if (before === null)
        throw badRequest('cursor is invalid; send next_cursor of the previous page, or no cursor', 'cursor')
      if (type !== null && hasForbiddenCharacters(type))
        throw badRequest('type must not contain control characters', 'type')
      if (inboxId === null) return emptyPage
      const kind = getPageKind(unread, type)
      return buildPageText((await readPage(kind, limit)({ inboxId, before, type })) ?? [], limit)
    },

    async isUnread(inboxId: InboxId | null): Promise<boolean> {
      return inboxId !== null && (await probeUnread(inboxId))?.unread === true
    },

    /**
     * Marks the rows that are not marked yet and sends a hint to the other sockets of the user. Returns the number of
     * rows.
     */
    async mark(inboxId: InboxId | null, request: MarkRequest): Promise<number> {
      if (inboxId === null) return 0
      const { mark, connectionId } = request
      const [markedRows, updatedCount] = await markRowsInTurn(inboxId, { maxMarked, ...request })
      if (updatedCount > 0)
        sendHint({
          tenantId: inboxId.tenantId,
          applicationId: inboxId.applicationId,
          audience: { users: [inboxId.userId], roles: [], members: false },
          text: buildMarkFrame(mark, markedRows),
          mayDrop: false,
          ...(connectionId === null ? {} : { exceptConnection: connectionId }),
        })
      return updatedCount
    },
  }
}

const createPageReader = (database: Database, pageOptions: { kind: PageKind; kept: string; count: number }) =>
  createCoalescer<PageKey, InboxRow[]>({
    getKey: ({ inboxId, before, type }) =>
      `${inboxId.tenantId}${inboxId.applicationId}${inboxId.userId}${before.id}${type ?? ''}`,
    run: (keys) => readPages(database.run, keys, pageOptions),
    maxBatch: maxPagesPerBatch,
  })

const getOwners = ({ tenantId, userId }: InboxId): Owners => [tenantId, userId]

/**
 * Returns a function that waits until it is the user's turn, and then marks the rows that are not marked yet.
 * It returns the marked ids and the row count.
 */
function createMarker(database: Database, kept: string) {
  const fairShare = createFairShare(markLimits)
  const markIds = async (inboxId: InboxId, mark: Mark, ids: readonly string[]): Promise<string[]> => {
    const keys = parseKeys(ids)
    if (keys.length === 0) return []
    const run = () => markRows(database.run, inboxId, { mark, keys, kept })
    return fairShare.run(getOwners(inboxId), run)
  }
  const markPart = (inboxId: InboxId, before: InboxKey, count: number) => {
    const range = { before, count, kept }
    const run = () => markUnreadBefore(database.run, inboxId, range)
    return fairShare.run(getOwners(inboxId), run)
  }
  const markAllUnread = async (inboxId: InboxId, maxMarked: number): Promise<number> => {
    let [updatedCount, before]: [number, InboxKey | null] = [0, startOfInbox]
    // Parts are marked from the newest row backward, so that notifications that arrive during the loop stay unread.
    while (before !== null && updatedCount < maxMarked) {
      const count = Math.min(rowsPerPart, maxMarked - updatedCount)
      const part = await markPart(inboxId, before, count)
      updatedCount += part.updated
      before = part.updated < count || part.oldest === null ? null : parseInboxKey(part.oldest)
    }
    return updatedCount
  }
  return async (
    inboxId: InboxId,
    { mark, marked, maxMarked }: Required<Omit<MarkRequest, 'connectionId'>>,
  ): Promise<[MarkedRows, number]> => {
    if ('all' in marked) return [marked, await markAllUnread(inboxId, maxMarked)]
    const ids = await markIds(inboxId, mark, marked.ids)
    return [{ ids }, ids.length]
  }
}

/** Returns the positions of valid ids without duplicates, newest first. */
function parseKeys(ids: readonly string[]): InboxKey[] {
  const sortedIds = [...new Set(ids.map((id) => id.toLowerCase()))].toSorted().toReversed()
  return sortedIds.map(parseInboxKey).filter((key) => key !== null)
}
