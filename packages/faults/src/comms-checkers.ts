// What must hold of a history of notifications, hints and sockets. Like the checkers of runs, each names what breaks its
// rule.
import type { Pool } from 'pg'
import type { Arrival, SocketEvent } from './sockets.ts'

/** One notification that a backend wants to be sent, under one key. */
export type Emit = {
  /** Its Idempotency-Key, and its title. */
  key: string
  applicationId: string
  recipients: string[]
  /** `status` is 0 when there was no answer. */
  attempts: { start: number; end: number; status: number }[]
  /** What was answered with 202. */
  accepted: { notificationId: string; recipientCount: number }[]
}
/** A notification as the database holds it. */
export type Stored = { id: string; key: string; recipients: string[] }
/** What a person sees, in the order of the answers. */
export type Inbox = { userId: string; applicationId: string; ids: string[] }
export type EmitHistory = { emits: Emit[]; stored: Stored[]; inboxes: Inbox[] }

/** Accepted is kept: with every recipient, in the database and in the inboxes. */
export function checkAccepted({ emits, stored, inboxes }: EmitHistory): string[] {
  const byId = new Map(stored.map((one) => [one.id, new Set(one.recipients)]))
  const seen = new Map(
    inboxes.map(({ userId, applicationId, ids }) => [`${userId} ${applicationId}`, new Set(ids)]),
  )
  return emits.flatMap(({ key, applicationId, recipients, accepted }) =>
    accepted.flatMap(({ notificationId, recipientCount }) => {
      const rows = byId.get(notificationId)
      if (rows === undefined) return [`${key} is not stored`]
      if (recipientCount !== recipients.length) return [`${key} was sent to ${recipientCount} people`]
      return recipients
        .filter(
          (userId) =>
            !rows.has(userId) || seen.get(`${userId} ${applicationId}`)?.has(notificationId) !== true,
        )
        .map((userId) => `${key} is missing for ${userId}`)
    }),
  )
}

/** One notification for a key, whatever was tried, for those it was meant for, and once in each inbox. */
export function checkOncePerKey({ emits, stored, inboxes }: EmitHistory): string[] {
  const wanted = new Map(emits.map((emit) => [emit.key, new Set(emit.recipients)]))
  const twice = [...Map.groupBy(stored, ({ key }) => key)]
    .filter(([, found]) => found.length > 1)
    .map(([key, found]) => `${key} is stored ${found.length} times`)
  const answered = emits
    .filter(({ accepted }) => new Set(accepted.map(({ notificationId }) => notificationId)).size > 1)
    .map(({ key }) => `${key} was answered with two notifications`)
  const strange = stored.flatMap(({ key, recipients }) =>
    recipients
      .filter((userId) => wanted.get(key)?.has(userId) !== true)
      .map((userId) => `${key} for ${userId}`),
  )
  const repeated = inboxes
    .filter(({ ids }) => new Set(ids).size < ids.length)
    .map(({ userId }) => `an inbox of ${userId} shows a notification twice`)
  return [...twice, ...answered, ...strange, ...repeated]
}

/** Emits that ended otherwise than with 202. */
export const findRefused = (emits: readonly Emit[]): string[] =>
  emits
    .filter(({ accepted }) => accepted.length === 0)
    .map(({ key, attempts }) => `${key} ${attempts.map(({ status }) => status).join(',')}`)

/** Everything the database holds. */
export async function readStored(sql: Pool): Promise<Stored[]> {
  const { rows } = await sql.query<Stored>(
    `select n.id, coalesce(n.title, '') as key, array_agg(r.user_id::text) as recipients
     from notifications n join notification_recipients r on r.notification_id = n.id and r.created_at = n.created_at
     group by n.id, n.title`,
  )
  const { rows: orphans } = await sql.query<{ id: string }>(
    `select r.notification_id as id from notification_recipients r
     where not exists (select from notifications n where n.id = r.notification_id and n.created_at = r.created_at)`,
  )
  return [...rows, ...orphans.map(({ id }) => ({ id, key: `content of ${id}`, recipients: [] }))]
}

/** A hint that was sent, and which of the sockets it is for. */
export type SentHint = { key: string; at: number; replica: number; sockets: number[] }
export type HintHistory = {
  sent: SentHint[]
  /** The replica that each socket is held by. */
  heldBy: number[]
  arrivals: Arrival[]
}
type Missed = {
  /** Hints that a socket of the replica that sent them did not get. */
  local: SentHint[]
  /** Hints that a socket of another replica did not get. */
  remote: SentHint[]
  /** Hints that a socket got twice, or that were not for it. */
  wrong: string[]
}

/** At most once, and nowhere else: whom each hint reached. */
export function checkHints({ sent, heldBy, arrivals }: HintHistory): Missed {
  const reached = Map.groupBy(arrivals, ({ key }) => key)
  const missed: Missed = { local: [], remote: [], wrong: [] }
  for (const hint of sent) {
    const got = (reached.get(hint.key) ?? []).map(({ socket }) => socket)
    const gotBy = new Set(got)
    const isFor = new Set(hint.sockets)
    const without = hint.sockets.filter((socket) => !gotBy.has(socket))
    if (without.some((socket) => heldBy[socket] === hint.replica)) missed.local.push(hint)
    if (without.some((socket) => heldBy[socket] !== hint.replica)) missed.remote.push(hint)
    if (got.length > gotBy.size) missed.wrong.push(`${hint.key} came twice`)
    if (got.some((socket) => !isFor.has(socket))) missed.wrong.push(`${hint.key} came to others`)
  }
  const known = new Set(sent.map(({ key }) => key))
  missed.wrong.push(
    ...[...reached.keys()].filter((key) => !known.has(key)).map((key) => `nobody sent ${key}`),
  )
  return missed
}

// So long everything has to arrive before hints count as flowing.
const flowingMs = 2_000

/**
 * How long after this instant hints flow again: from when on all arrive for a while. Infinity when that is never. One that
 * is lost later, because a busy Redis answers late, is another matter.
 */
export function resumedAfter(sent: readonly SentHint[], missed: readonly SentHint[], from: number): number {
  const end = Math.max(...sent.map(({ at }) => at))
  const gaps = missed.map(({ at }) => at).filter((at) => at >= from)
  const beginnings = [from, ...gaps.sort((a, b) => a - b)]
  const found = beginnings.find((at, index) => (beginnings[index + 1] ?? end) - at >= flowingMs)
  return found === undefined ? Infinity : found - from
}

/** Hints that did not arrive although they should flow: until this instant, and from that one on. */
export const lostMeanwhile = (missed: readonly SentHint[], until: number, from: number): SentHint[] =>
  missed.filter(({ at }) => at < until || at > from)

/** A socket that was closed, and when it had its next hello. */
export type Return = {
  socket: number
  code: number
  closedAt: number
  jitterMs: number
  backAt: number | null
}

/** How each close ended. */
export function returnsOf(events: readonly SocketEvent[]): Return[] {
  return [...Map.groupBy(events, ({ socket }) => socket).values()].flatMap((own) => {
    const inOrder = own.toSorted((a, b) => a.at - b.at)
    return inOrder.flatMap((event, index) => {
      if (event.kind !== 'closed') return []
      const { socket, code, jitterMs, at } = event
      const next = inOrder.slice(index + 1).find(({ kind }) => kind === 'hello')
      return [{ socket, code, closedAt: at, jitterMs, backAt: next?.at ?? null }]
    })
  })
}

/** How long sockets took from the beginning of the connection to their hello, the shortest first. */
export const handshakesOf = (events: readonly SocketEvent[]): number[] =>
  events.flatMap((event) => (event.kind === 'hello' ? [event.tookMs] : [])).sort((a, b) => a - b)

/** Back in time: within the jitter that the replica named, and what a connection takes. */
export const findLate = (returns: readonly Return[], marginMs: number): string[] =>
  returns
    .filter(({ closedAt, jitterMs, backAt }) => backAt === null || backAt - closedAt > jitterMs + marginMs)
    .map(
      ({ socket, closedAt, backAt }) =>
        `socket ${socket} ${backAt === null ? 'did not come back' : `was back after ${Math.round(backAt - closedAt)} ms`}`,
    )
