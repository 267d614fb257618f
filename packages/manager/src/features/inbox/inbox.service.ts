// The inbox of a user in a tenant and an application: pages, whether something is unread, and marks. Whoever lost the
// application has an empty one.
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { badRequest } from '../../platform/errors.ts'
import { hasForbiddenCharacters } from '../../platform/inputs/inputs.ts'
import { type Owners, createFairShare } from '../../platform/throttle/fair-share.ts'
import type { SendHint } from '../live-sockets/index.ts'
import { type InboxKey, decodeCursor, keyOf, newest } from './inbox-cursor.pure.ts'
import { type InboxRow, emptyPage, pageText } from './inbox-page.pure.ts'
import {
  type InboxPlace,
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
  /** The most rows that one request marks, 100,000 by default; whoever has more unread asks again. */
  maxMarked?: number
}
export type InboxService = ReturnType<typeof createInboxService>
export type { InboxPlace }

/** Without a filter of its own every field is null. */
export type PageWanted = { limit: number; cursor: string | null; unread: boolean; type: string | null }
export type MarkWanted = {
  mark: Mark
  /** Ids in any case and order, or everything that is unread. */
  marked: Marked
  /** The socket of the tab that asks; it gets no hint. */
  connectionId: string | null
}

// A page may bring three megabytes with it.
const maxPagesAtOnce = 8
// One part is one statement: short enough that nobody waits for its rows, long enough that an inbox needs few.
const rowsOfPart = 1_000
const defaultMaxMarked = 100 * rowsOfPart

// Marks share their connections with emits, so they have one at a time; tenants take turns, and users within a tenant.
const markLimits = {
  capacity: 1,
  maxWaiting: 1_000,
  maxWaitMs: 30_000,
  full: 'too many marks of this user or tenant wait; try again',
}

/** Reads and marks inboxes. */
export function createInboxService({ database, retentionDays, sendHint, ...options }: InboxDeps) {
  const { maxMarked = defaultMaxMarked } = options
  const kept = `${retentionDays * 24} hours`
  const probe = createCoalesced<InboxPlace, { unread: boolean | null }>({
    keyOf: ({ tenantId, applicationId, userId }) => tenantId + applicationId + userId,
    run: (places) => readUnread(database.run, places, kept),
  })
  const readers = new Map<string, (key: PageKey) => Promise<InboxRow[] | null>>()
  /** Pages of one kind and size that are asked for together share a statement. */
  const readPage = (kind: PageKind, limit: number) => {
    const name = `${kind} ${limit}`
    const reader = readers.get(name) ?? createPageReader(database, { kind, kept, count: limit + 1 })
    readers.set(name, reader)
    return reader
  }
  const markInTurn = createMarks(database, kept, maxMarked)
  return {
    /** A page as JSON. */
    async page(place: InboxPlace | null, { limit, cursor, unread, type }: PageWanted): Promise<string> {
      const before = cursor === null ? newest : decodeCursor(cursor)
      if (before === null)
        throw badRequest('cursor is not one of this inbox; use next_cursor of the page before, or none')
      if (type !== null && hasForbiddenCharacters(type))
        throw badRequest('type must not contain control characters')
      if (place === null) return emptyPage
      const kind = type === null ? (unread ? 'unread' : 'all') : unread ? 'unreadOfType' : 'ofType'
      return pageText((await readPage(kind, limit)({ place, before, type })) ?? [], limit)
    },

    /** Whether something is unread. */
    async isUnread(place: InboxPlace | null): Promise<boolean> {
      return place !== null && (await probe(place))?.unread === true
    },

    /** Marks what is not marked yet and tells the other sockets of the user; returns how many rows that were. */
    async mark(place: InboxPlace | null, { mark, marked, connectionId }: MarkWanted): Promise<number> {
      if (place === null) return 0
      const [done, updated] = await markInTurn(place, mark, marked)
      if (updated > 0)
        sendHint({
          tenantId: place.tenantId,
          applicationId: place.applicationId,
          audience: { users: [place.userId], roles: [], members: false },
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
    keyOf: ({ place, before, type }) =>
      `${place.tenantId}${place.applicationId}${place.userId}${before.id}${type ?? ''}`,
    run: (keys) => readPages(database.run, keys, wanted),
    maxBatch: maxPagesAtOnce,
  })

const ownersOf = ({ tenantId, userId }: InboxPlace): Owners => [tenantId, userId]

/** Marks what is not marked yet, when it is the user's turn; returns it, and how many rows that were. */
function createMarks(database: Database, kept: string, maxMarked: number) {
  const turns = createFairShare(markLimits)
  const markIds = async (place: InboxPlace, mark: Mark, ids: readonly string[]): Promise<string[]> => {
    const keys = keysOf(ids)
    if (keys.length === 0) return []
    const run = () => markRows(database.run, place, { mark, keys, kept })
    return turns.run(ownersOf(place), run)
  }
  const markPart = (place: InboxPlace, before: InboxKey) => {
    const wanted = { before, count: rowsOfPart, kept }
    const run = () => markUnreadBefore(database.run, place, wanted)
    return turns.run(ownersOf(place), run)
  }
  const markEverything = async (place: InboxPlace): Promise<number> => {
    let [updated, before]: [number, InboxKey | null] = [0, newest]
    // Downwards from the newest row that is there now: what arrives meanwhile stays unread.
    while (before !== null && updated < maxMarked) {
      const part = await markPart(place, before)
      updated += part.updated
      before = part.updated < rowsOfPart || part.oldest === null ? null : keyOf(part.oldest)
    }
    return updated
  }
  return async (place: InboxPlace, mark: Mark, marked: Marked): Promise<[Marked, number]> => {
    if ('all' in marked) return [marked, await markEverything(place)]
    const ids = await markIds(place, mark, marked.ids)
    return [{ ids }, ids.length]
  }
}

/** The places of ids that notifications can have, each once, newest first. */
function keysOf(ids: readonly string[]): InboxKey[] {
  const sorted = [...new Set(ids.map((id) => id.toLowerCase()))].toSorted().toReversed()
  return sorted.map(keyOf).filter((key) => key !== null)
}
