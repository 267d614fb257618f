// The calls of backends and of the proxy: emit and publish with the machine token, the inbox with a person's identity.
import { inParallel } from './pace.ts'
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { pause } from './children.ts'
import type { Emit, Inbox } from './comms-checkers.ts'
import type { CommsWorld } from './comms-world.ts'
import { proxySecret } from '@manager/harness/callers.ts'

/** `status` is 0 when there was no answer. */
export type Answer = { status: number; retryAfterMs: number; body: Record<string, unknown> }
/** Where the next call goes. */
export type NextUrl = () => string

export type CommsCalls = {
  /** With a time, the connection is cut after it, whatever the service does by then. */
  emit(
    next: NextUrl,
    emit: Pick<Emit, 'key' | 'applicationId' | 'recipients'>,
    cutMs?: number,
  ): Promise<Answer>
  /** A hint with this topic to everyone who looks. */
  publish(next: NextUrl, hint: { key: string; applicationId: string; data?: unknown }): Promise<Answer>
  unread(next: NextUrl, userId: string, applicationId: string): Promise<Answer>
  inbox(next: NextUrl, userId: string, applicationId: string): Promise<Inbox>
  end(): Promise<void>
}

const callMs = 30_000
const pageSize = 100

export function createCommsCalls({ token, tenantId }: Pick<CommsWorld, 'token' | 'tenantId'>): CommsCalls {
  const agent = new Agent({ connections: 256, keepAliveTimeout: 1_000, connect: { timeout: callMs } })
  const call = (url: string, sent: Sent): Promise<Answer> => send(agent, url, sent)
  const asMachine = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return {
    emit: (next, { key, applicationId, recipients }, cutMs) =>
      call(next() + '/api/machine/comms/emit', {
        ...(cutMs === undefined ? {} : { cutMs }),
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
        if (status !== 200) throw new Error(`an inbox answers ${status} ${JSON.stringify(body)}`)
        ids.push(...(body['notifications'] as { id: string }[]).map(({ id }) => id))
        if (body['has_more'] !== true) return { userId, applicationId, ids }
        cursor = `&cursor=${encodeURIComponent(String(body['next_cursor']))}`
      }
    },
    end: () => agent.close(),
  }
}

/** What the proxy says of a person. */
export const identity = (userId: string, tenantId: string): Record<string, string> => ({
  'x-proxy-auth': proxySecret,
  'x-user-id': userId,
  'x-tenant-id': tenantId,
})

type Sent = { headers: Record<string, string>; body?: unknown; cutMs?: number }

async function send(agent: Agent, url: string, { headers, body, cutMs }: Sent): Promise<Answer> {
  try {
    const answer = await request(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      dispatcher: agent,
      headersTimeout: callMs,
      bodyTimeout: callMs,
      ...(cutMs === undefined ? {} : { signal: AbortSignal.timeout(cutMs) }),
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

/** An emit that was not sent yet, to some of the people. */
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

/** Sends it once, and notes how that ended. */
export async function tryEmit(calls: CommsCalls, next: NextUrl, emit: Emit, cutMs?: number): Promise<Answer> {
  const start = Date.now()
  const answer = await calls.emit(next, emit, cutMs)
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
 * Sends it until it is accepted, as a careful backend does; gives up at a refusal that is final. With a time, the first try
 * is cut after it.
 */
export async function emitUntilAccepted(
  calls: CommsCalls,
  next: NextUrl,
  emit: Emit,
  firstCutMs?: number,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    const cutMs = tries === 0 ? firstCutMs : undefined
    const { status, retryAfterMs } = await tryEmit(calls, next, emit, cutMs)
    if (status === 202 || (status >= 400 && status < 500 && status !== 429)) return
    await pause(Math.max(retryAfterMs, retryMs) * (0.75 + Math.random() / 2))
  }
}

/** The inboxes of everyone in every application, read through the API. */
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
