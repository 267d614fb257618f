// Sends calls as backends and as the proxy. Backends emit and publish with a machine token. The proxy reads
// inboxes with the identity of a user.
import { inParallel } from './pace.ts'
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { pause } from './children.ts'
import type { Emit, Inbox } from './comms-checkers.ts'
import type { CommsWorld } from './comms-world.ts'
import { proxySecret } from '@manager/harness/callers.ts'

/** `status` is 0 if there was no response. */
export type CallResult = { status: number; retryAfterMs: number; body: Record<string, unknown> }
/** Returns the base URL for the next call. */
export type NextUrl = () => string

export type CommsCalls = {
  /** With `abortAfterMs`, the client aborts the call after that time. */
  emit(
    next: NextUrl,
    emit: Pick<Emit, 'key' | 'applicationId' | 'recipients'>,
    abortAfterMs?: number,
  ): Promise<CallResult>
  /** Publishes a hint with the topic `key` to all open sockets. A hint is a best-effort message. */
  publish(next: NextUrl, hint: { key: string; applicationId: string; data?: unknown }): Promise<CallResult>
  unread(next: NextUrl, userId: string, applicationId: string): Promise<CallResult>
  inbox(next: NextUrl, userId: string, applicationId: string): Promise<Inbox>
  end(): Promise<void>
}

const callMs = 30_000
const pageSize = 100

export function createCommsCalls({ token, tenantId }: Pick<CommsWorld, 'token' | 'tenantId'>): CommsCalls {
  const agent = new Agent({ connections: 256, keepAliveTimeout: 1_000, connect: { timeout: callMs } })
  const call = (url: string, options: CallOptions): Promise<CallResult> => send(agent, url, options)
  const asMachine = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return {
    emit: (next, { key, applicationId, recipients }, abortAfterMs) =>
      call(next() + '/api/machine/comms/emit', {
        ...(abortAfterMs === undefined ? {} : { abortAfterMs }),
        headers: { ...asMachine, 'idempotency-key': key },
        body: { application_id: applicationId, tenant_id: tenantId, recipients, title: key },
      }),
    publish: (next, { key, applicationId, data = null }) =>
      call(next() + '/api/machine/comms/publish', {
        headers: asMachine,
        body: { application_id: applicationId, tenant_id: tenantId, topic: key, data },
      }),
    unread: (next, userId, applicationId) =>
      call(`${next()}/api/proxy/comms/${applicationId}/unread`, { headers: identity(userId, tenantId) }),
    inbox: async (next, userId, applicationId) => {
      const ids: string[] = []
      for (let cursor = ''; ;) {
        const path = `/api/proxy/comms/${applicationId}/notifications?limit=${pageSize}${cursor}`
        const { status, body } = await call(next() + path, { headers: identity(userId, tenantId) })
        if (status !== 200) throw new Error(`the inbox returned ${status} ${JSON.stringify(body)}`)
        ids.push(...(body['notifications'] as { id: string }[]).map(({ id }) => id))
        if (body['has_more'] !== true) return { userId, applicationId, ids }
        cursor = `&cursor=${encodeURIComponent(String(body['next_cursor']))}`
      }
    },
    end: () => agent.close(),
  }
}

/** The headers in which the proxy identifies a user. */
export const identity = (userId: string, tenantId: string): Record<string, string> => ({
  'x-proxy-auth': proxySecret,
  'x-user-id': userId,
  'x-tenant-id': tenantId,
})

type CallOptions = { headers: Record<string, string>; body?: unknown; abortAfterMs?: number }

async function send(
  agent: Agent,
  url: string,
  { headers, body, abortAfterMs }: CallOptions,
): Promise<CallResult> {
  try {
    const answer = await request(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      dispatcher: agent,
      headersTimeout: callMs,
      bodyTimeout: callMs,
      ...(abortAfterMs === undefined ? {} : { signal: AbortSignal.timeout(abortAfterMs) }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    const retryAfterMs = Number(answer.headers['retry-after'] ?? 0) * 1_000
    return { status: answer.statusCode, retryAfterMs, body: parse(text) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { status: 0, retryAfterMs: 0, body: { error: code ?? message } }
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return { text }
  }
}

/** Creates an emit for some of the users without sending it. */
export const planEmit = (world: CommsWorld, random: () => number, recipients: number): Emit => {
  const first = Math.floor(random() * world.userIds.length)
  return {
    key: randomUUID(),
    applicationId: world.applicationIds[Math.floor(random() * world.applicationIds.length)] as string,
    recipients: Array.from(
      { length: recipients },
      (_, index) => world.userIds[(first + index) % world.userIds.length] as string,
    ),
    attempts: [],
    accepted: [],
  }
}

/** Sends the emit once and records the outcome. */
export async function tryEmit(
  calls: CommsCalls,
  next: NextUrl,
  emit: Emit,
  abortAfterMs?: number,
): Promise<CallResult> {
  const start = Date.now()
  const answer = await calls.emit(next, emit, abortAfterMs)
  emit.attempts.push({ start, end: Date.now(), status: answer.status })
  if (answer.status === 202)
    emit.accepted.push({
      notificationId: String(answer.body['notification_id']),
      recipientCount: Number(answer.body['recipient_count']),
    })
  return answer
}

const retryMs = 200

/**
 * Retries the emit until it is accepted or finally rejected (4xx except 429). With `abortFirstAfterMs`, the first
 * attempt is aborted after that time.
 */
export async function emitUntilAccepted(
  calls: CommsCalls,
  next: NextUrl,
  emit: Emit,
  abortFirstAfterMs?: number,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    const abortAfterMs = tries === 0 ? abortFirstAfterMs : undefined
    const { status, retryAfterMs } = await tryEmit(calls, next, emit, abortAfterMs)
    if (status === 202 || (status >= 400 && status < 500 && status !== 429)) return
    await pause(Math.max(retryAfterMs, retryMs) * (0.75 + Math.random() / 2))
  }
}

/** Reads the inboxes of all users in all applications through the API. */
export const readInboxes = (
  calls: CommsCalls,
  next: NextUrl,
  { userIds, applicationIds }: Pick<CommsWorld, 'userIds' | 'applicationIds'>,
): Promise<Inbox[]> =>
  inParallel(
    userIds.flatMap((userId) => applicationIds.map((applicationId) => ({ userId, applicationId }))),
    16,
    ({ userId, applicationId }) => calls.inbox(next, userId, applicationId),
  )
