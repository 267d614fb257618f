// This service reads and marks the inbox of a user in one tenant and application: pages, the unread flag, and marks.
// The inbox is empty for a user who lost access to the application.
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { badRequest } from '../../platform/errors.ts'
import { hasForbiddenCharacters } from '../../platform/inputs/inputs.ts'
import { type Owners, createFairShare } from '../../platform/throttle/fair-share.ts'
import type { SendHint } from '../live-sockets/index.ts'
import { type InboxKey, decodeCursor, keyOf, startOfInbox } from './inbox-cursor.pure.ts'
import { type InboxRow, emptyPage, pageText } from './inbox-page.pure.ts'
import {
  type InboxId,
  type Mark,
  type PageKey,
  type PageKind,
  markRows,
  markUnreadBefore,
  readPages,
  readUnread,
} from './inbox.store.ts'
import { type Marked, markText } from './mark-text.pure.ts'

export type InboxDeps = {
  database: Database
  retentionDays: number
  sendHint: SendHint
  /** Maximum number of rows that one request marks, by default 100,000. The client repeats the request to mark more. */
  maxMarked?: number
}
export type InboxService = ReturnType<typeof createInboxService>
export type { InboxId }

/** `cursor` is null for the first page, and `type` is null for all types. */
export type PageRequest = { limit: number; cursor: string | null; unread: boolean; type: string | null }
export type MarkRequest = {
  mark: Mark
  /** Ids in any case and order, or all unread notifications. */
  marked: Marked
  /**
   * The socket of the requesting tab, which does not receive a hint. A hint is a message to open sockets that may be
   * lost.
   */
  connectionId: string | null
}

// One page can be 3 MB, which bounds the size of a batch.
const maxPagesPerBatch = 8
// Each part is one statement. A part is small enough not to block other statements on its rows for long, and large
// enough that an inbox needs only a few parts.
const rowsPerPart = 1_000
const defaultMaxMarked = 100 * rowsPerPart

// Marks share their connections with emits, so only one mark runs at a time. Tenants take turns, and so do the users of
// a tenant.
const markLimits = {
  capacity: 1,
  maxWaiting: 1_000,
  maxWaitMs: 30_000,
  full: 'too many marks of this user or tenant are queued; try again',
}

export function createInboxService({ database, retentionDays, sendHint, ...options }: InboxDeps) {
  const { maxMarked = defaultMaxMarked } = options
  const kept = `${retentionDays * 24} hours`
  const probe = createCoalesced<InboxId, { unread: boolean | null }>({
    keyOf: ({ tenantId, applicationId, userId }) => tenantId + applicationId + userId,
    run: (inboxIds) => readUnread(database.run, inboxIds, kept),
  })
  const readers = new Map<string, (key: PageKey) => Promise<InboxRow[] | null>>()
  /** Concurrent requests for pages of the same kind and size share a statement. */
  const readPage = (kind: PageKind, limit: number) => {
    const name = `${kind} ${limit}`
    const reader = readers.get(name) ?? createPageReader(database, { kind, kept, count: limit + 1 })
    readers.set(name, reader)
    return reader
  }
  const markInTurn = createMarks(database, kept, maxMarked)
  return {
    /** Returns a page as JSON. Throws 400 if the cursor or the type is invalid. */
    async page(inboxId: InboxId | null, { limit, cursor, unread, type }: PageRequest): Promise<string> {
      const before = cursor === null ? startOfInbox : decodeCursor(cursor)
      if (before === null)
        throw badRequest('cursor is invalid; send next_cursor of the previous page, or no cursor')
      if (type !== null && hasForbiddenCharacters(type))
        throw badRequest('type must not contain control characters')
      if (inboxId === null) return emptyPage
      const kind = type === null ? (unread ? 'unread' : 'all') : unread ? 'unreadOfType' : 'ofType'
      return pageText((await readPage(kind, limit)({ inboxId, before, type })) ?? [], limit)
    },

    async isUnread(inboxId: InboxId | null): Promise<boolean> {
      return inboxId !== null && (await probe(inboxId))?.unread === true
    },

    /**
     * Marks the rows that are not marked yet and sends a hint to the other sockets of the user. Returns the number of
     * rows.
     */
    async mark(inboxId: InboxId | null, { mark, marked, connectionId }: MarkRequest): Promise<number> {
      if (inboxId === null) return 0
      const [done, updated] = await markInTurn(inboxId, mark, marked)
      if (updated > 0)
        sendHint({
          tenantId: inboxId.tenantId,
          applicationId: inboxId.applicationId,
          audience: { users: [inboxId.userId], roles: [], members: false },
          text: markText(mark, done),
          mayDrop: false,
          ...(connectionId === null ? {} : { exceptConnection: connectionId }),
        })
      return updated
    },
  }
}

const createPageReader = (database: Database, wanted: { kind: PageKind; kept: string; count: number }) =>
  createCoalesced<PageKey, InboxRow[]>({
    keyOf: ({ inboxId, before, type }) =>
      `${inboxId.tenantId}${inboxId.applicationId}${inboxId.userId}${before.id}${type ?? ''}`,
    run: (keys) => readPages(database.run, keys, wanted),
    maxBatch: maxPagesPerBatch,
  })

const ownersOf = ({ tenantId, userId }: InboxId): Owners => [tenantId, userId]

/**
 * Waits for the turn of the user, then marks the rows that are not marked yet. Returns the marked ids and the row
 * count.
 */
function createMarks(database: Database, kept: string, maxMarked: number) {
  const turns = createFairShare(markLimits)
  const markIds = async (inboxId: InboxId, mark: Mark, ids: readonly string[]): Promise<string[]> => {
    const keys = keysOf(ids)
    if (keys.length === 0) return []
    const run = () => markRows(database.run, inboxId, { mark, keys, kept })
    return turns.run(ownersOf(inboxId), run)
  }
  const markPart = (inboxId: InboxId, before: InboxKey) => {
    const wanted = { before, count: rowsPerPart, kept }
    const run = () => markUnreadBefore(database.run, inboxId, wanted)
    return turns.run(ownersOf(inboxId), run)
  }
  const markEverything = async (inboxId: InboxId): Promise<number> => {
    let [updated, before]: [number, InboxKey | null] = [0, startOfInbox]
    // Parts run from the newest row to older rows, so notifications that arrive during the loop stay unread.
    while (before !== null && updated < maxMarked) {
      const part = await markPart(inboxId, before)
      updated += part.updated
      before = part.updated < rowsPerPart || part.oldest === null ? null : keyOf(part.oldest)
    }
    return updated
  }
  return async (inboxId: InboxId, mark: Mark, marked: Marked): Promise<[Marked, number]> => {
    if ('all' in marked) return [marked, await markEverything(inboxId)]
    const ids = await markIds(inboxId, mark, marked.ids)
    return [{ ids }, ids.length]
  }
}

/** Returns the positions of valid ids without duplicates, newest first. */
function keysOf(ids: readonly string[]): InboxKey[] {
  const sorted = [...new Set(ids.map((id) => id.toLowerCase()))].toSorted().toReversed()
  return sorted.map(keyOf).filter((key) => key !== null)
}
