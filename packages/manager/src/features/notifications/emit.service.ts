// Accepts emits from backends. Concurrent emits share a statement and its commit. Each emit gets its response
// after the commit.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { unavailable } from '../../platform/errors.ts'
import { createFairShare } from '../../platform/throttle/fair-share.ts'
import type { SendHint } from '../live-sockets/index.ts'
import type { CheckRate } from './application-rate.service.ts'
import type { CommsTarget } from './comms-state.store.ts'
import type { NotificationMetrics } from './notifications.metrics.ts'
import { type EmitInput, formatCanonicalText, maxBodyBytes } from './emit-input.pure.ts'
import { type PendingEmit, type WriteResult, createEmitWriter } from './emit-writer.service.ts'
import * as store from './emit.store.ts'
import { buildNotificationFrame } from './hint-texts.pure.ts'
import {
  createCommsDisabledError,
  getEmitRefusalLabel,
  createPastExpiryError,
  createForeignTargetError,
  createReusedKeyError,
} from './refusals.pure.ts'

export type EmitDeps = {
  db: Db
  database: Pick<Database, 'run'>
  clock: Clock
  metrics: NotificationMetrics
  checkRate: CheckRate
  sendHint: SendHint
}
export type EmitService = ReturnType<typeof createEmitService>
export type EmitResponse = { notificationId: string; requestId: string; recipientCount: number }
export type EmitRequest = CommsTarget & { input: EmitInput; requestId: string; bytes: number }

const maxWaitingBytes = 64 * 1_048_576
/**
 * Minimum size that is charged per waiting request, so that a project with tiny emits cannot fill the queue.
 */
const minBytes = 8_192
// The number of waiting requests is limited, because their bodies are already in memory.
const maxWaiting = 500
const maxWaitMs = 2_000

export function createEmitService(deps: EmitDeps) {
  const { metrics, database } = deps
  const write = createEmitWriter(deps)
  const readStoredResponse = createCoalescer<store.ScopedKey, store.StoredResponse>({
    getKey: ({ tenantId, applicationId, key }) => `${tenantId} ${applicationId} ${key}`,
    run: (keys) => store.readStoredResponses(database.run, keys),
  })
  const queueMemory = createFairShare({
    capacity: maxWaitingBytes,
    maxItemSize: maxBodyBytes,
    maxWaiting,
    maxWaitMs,
    overloadMessage: 'too many notifications are queued; try again',
  })

  /** Returns the stored response of an earlier emit with this key, or null. Throws if the body differs. */
  const findStoredResponse = async (emit: PendingEmit): Promise<EmitResponse | null> => {
    const { key, fingerprint } = emit
    const storedResponse = key === null ? null : await readStoredResponse({ ...emit, key })
    if (storedResponse === null) return null
    const { fingerprint: storedFingerprint, ...response } = storedResponse
    if (fingerprint === null || !storedFingerprint.equals(fingerprint)) throw createReusedKeyError()
    metrics.emits.inc({ outcome: 'repeated' })
    return response
  }
  const accept = async (emit: PendingEmit): Promise<EmitResponse> => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const result = await write(emit)
      if (result.outcome === 'foreign') throw createForeignTargetError()
      if (result.outcome === 'off') throw createCommsDisabledError()
      if (result.outcome === 'written') {
        metrics.emits.inc({ outcome: 'accepted' })
        metrics.recipients.inc(result.count)
        if (result.count > 0) deps.sendHint(createHint(emit, result))
        return { notificationId: result.id, requestId: emit.requestId, recipientCount: result.count }
      }
      const response = await findStoredResponse(emit)
      if (response !== null) return response
      if (result.outcome === 'past') throw createPastExpiryError()
      // The key belongs to an emit in progress, or it expired after it was read.
      await sleep(initialDelayMs * 2 ** attempt)
    }
    throw unavailable('the key is in use; try again')
  }

  return {
    /** Resolves after the notification is committed. */
    emit: async ({ bytes, input, ...target }: EmitRequest): Promise<EmitResponse> => {
      const lease = queueMemory.begin([target.projectId])
      try {
        await deps.checkRate(target)
        await lease.add(Math.max(bytes, minBytes))
        const fingerprint = input.key === null ? null : computeSha256(formatCanonicalText(input))
        return await accept({ ...target, ...input, fingerprint })
      } catch (error) {
        metrics.emits.inc({ outcome: getEmitRefusalLabel(error) })
        throw error
      } finally {
        lease.release()
      }
    },
  }
}

/**
 * Maximum number of attempts. An emit to very many members takes longer than all attempts. Other requests
 * with the same key then get 503.
 */
const maxAttempts = 7
const initialDelayMs = 20
const computeSha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

function createHint(emit: PendingEmit, { id, createdAt, named }: WriteResult): Parameters<SendHint>[0] {
  const { tenantId, applicationId, recipients, roles, type, title, severity } = emit
  return {
    tenantId,
    applicationId,
    audience: { users: named, roles: roles ?? [], members: recipients === null && roles === null },
    text: buildNotificationFrame({ id, type, title, severity, createdAt }),
    mayDrop: false,
  }
}
