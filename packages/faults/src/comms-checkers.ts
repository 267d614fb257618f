// Checks the rules for a history of notifications, sockets and hints. Hints are best-effort messages. Each
// checker returns the violations of its rule, like the run checkers.
import type { Pool } from 'pg'
import type { Arrival, SocketEvent } from './sockets.ts'

/** One notification that a backend sends with one idempotency key. */
export type Emit = {
  /** Used as the Idempotency-Key and as the title. */
  key: string
  applicationId: string
  recipients: string[]
  /** `status` is 0 if no response arrived. */
  attempts: { start: number; end: number; status: number }[]
  /** Content of the 202 responses. */
  accepted: { notificationId: string; recipientCount: number }[]
}
/** A notification as the database stores it. */
export type Stored = { id: string; key: string; recipients: string[] }
/** Notifications that a user sees, in response order. */
export type Inbox = { userId: string; applicationId: string; ids: string[] }
export type EmitHistory = { emits: Emit[]; stored: Stored[]; inboxes: Inbox[] }

/** Acceptance rule: an accepted notification is stored for every recipient, in the database and in the inboxes. */
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

/**
 * Once-per-key rule: even after retries, each key has only one notification. Only the intended recipients have
 * received it, and each has it only once.
 */
export function checkOncePerKey({ emits, stored, inboxes }: EmitHistory): string[] {
  const wanted = new Map(emits.map((emit) => [emit.key, new Set(emit.recipients)]))
  const twice = [...Map.groupBy(stored, ({ key }) => key)]
    .filter(([, found]) => found.length > 1)
    .map(([key, found]) => `${key} is stored ${found.length} times`)
  const answered = emits
    .filter(({ accepted }) => new Set(accepted.map(({ notificationId }) => notificationId)).size > 1)
    .map(({ key }) => `${key} returned two notification ids`)
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

/** Returns emits that were never accepted with 202. */
export const findRefused = (emits: readonly Emit[]): string[] =>
  emits
    .filter(({ accepted }) => accepted.length === 0)
    .map(({ key, attempts }) => `${key} ${attempts.map(({ status }) => status).join(',')}`)

/** Reads all notifications from the database. Recipients without a notification are included as orphans. */
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

/** A sent hint and the sockets that must receive it. */
export type SentHint = { key: string; at: number; replica: number; sockets: number[] }
export type HintHistory = {
  sent: SentHint[]
  /** The replica that each socket is connected to. */
  replicaOfSocket: number[]
  arrivals: Arrival[]
}
type Missed = {
  /** Hints that a socket of the sending replica did not receive. */
  local: SentHint[]
  /** Hints that a socket of a different replica did not receive. */
  remote: SentHint[]
  /** Hints that a socket received twice, or that were not addressed to it. */
  wrong: string[]
}

/** Hint rule: each hint reaches its sockets at most once, and no other socket. */
export function checkHints({ sent, replicaOfSocket, arrivals }: HintHistory): Missed {
  const reached = Map.groupBy(arrivals, ({ key }) => key)
  const missed: Missed = { local: [], remote: [], wrong: [] }
  for (const hint of sent) {
    const got = (reached.get(hint.key) ?? []).map(({ socket }) => socket)
    const gotBy = new Set(got)
    const isFor = new Set(hint.sockets)
    const without = hint.sockets.filter((socket) => !gotBy.has(socket))
    if (without.some((socket) => replicaOfSocket[socket] === hint.replica)) missed.local.push(hint)
    if (without.some((socket) => replicaOfSocket[socket] !== hint.replica)) missed.remote.push(hint)
    if (got.length > gotBy.size) missed.wrong.push(`${hint.key} arrived twice`)
    if (got.some((socket) => !isFor.has(socket))) missed.wrong.push(`${hint.key} reached the wrong sockets`)
  }
  const known = new Set(sent.map(({ key }) => key))
  missed.wrong.push(
    ...[...reached.keys()].filter((key) => !known.has(key)).map((key) => `${key} was never sent`),
  )
  return missed
}

// The time without lost hints after which delivery counts as resumed.
const flowingMs = 2_000

/**
 * Returns the time from `from` until hint delivery resumes, or Infinity if it never does. Later losses are ignored,
 * because a busy Redis may respond late.
 */
export function computeResumeMs(
  sent: readonly SentHint[],
  missed: readonly SentHint[],
  from: number,
): number {
  const end = Math.max(...sent.map(({ at }) => at))
  const gaps = missed.map(({ at }) => at).filter((at) => at >= from)
  const starts = [from, ...gaps.sort((a, b) => a - b)]
  const found = starts.find((at, index) => (starts[index + 1] ?? end) - at >= flowingMs)
  return found === undefined ? Infinity : found - from
}

/** Returns the hints that were lost outside the outage, which lasts from `until` to `from`. */
export const findLostOutsideOutage = (missed: readonly SentHint[], until: number, from: number): SentHint[] =>
  missed.filter(({ at }) => at < until || at > from)

/** A closed socket and the time of its next hello. */
export type Return = {
  socket: number
  code: number
  closedAt: number
  jitterMs: number
  backAt: number | null
}

/** Returns one entry per closed socket, with the time of its next hello or null. */
export function listReturns(events: readonly SocketEvent[]): Return[] {
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

/** Returns the times from the start of a connection to its hello, in ascending order. */
export const handshakesOf = (events: readonly SocketEvent[]): number[] =>
  events.flatMap((event) => (event.kind === 'hello' ? [event.tookMs] : [])).sort((a, b) => a - b)

/**
 * Returns sockets that did not reconnect within the jitter that the replica announced, plus a margin for
 * connecting.
 */
export const findLate = (returns: readonly Return[], marginMs: number): string[] =>
  returns
    .filter(({ closedAt, jitterMs, backAt }) => backAt === null || backAt - closedAt > jitterMs + marginMs)
    .map(
      ({ socket, closedAt, backAt }) =>
        `socket ${socket} ${backAt === null ? 'did not reconnect' : `reconnected after ${Math.round(backAt - closedAt)} ms`}`,
    )
