// Notifications that backends emit. Those that arrive together share a statement and its commit; each is answered after
// it. What names its recipients does not wait behind what is for all members of a tenant.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { unavailable } from '../../platform/errors.ts'
import { createFairShare } from '../../platform/throttle/fair-share.ts'
import type { SendHint } from '../live-sockets/index.ts'
import type { CheckRate } from './application-rate.service.ts'
import type { CommsPlace } from './comms-state.store.ts'
import type { NotificationMetrics } from './notifications.metrics.ts'
import { type EmitInput, canonicalText, maxBodyBytes } from './emit-input.pure.ts'
import { type Waiting, type Written, createEmitWriter } from './emit-writer.service.ts'
import * as store from './emit.store.ts'
import { notificationText } from './hint-texts.pure.ts'
import { commsDisabled, foreignPlace, isPast, keyReused, emitRefusalOf } from './refusals.pure.ts'

export type EmitDeps = {
  db: Db
  database: Pick<Database, 'run'>
  clock: Clock
  metrics: NotificationMetrics
  checkRate: CheckRate
  sendHint: SendHint
}
export type EmitService = ReturnType<typeof createEmitService>
export type EmitAnswer = { notificationId: string; requestId: string; recipientCount: number }
export type EmitRequest = CommsPlace & { input: EmitInput; requestId: string; bytes: number }

const maxWaitingBytes = 64 * 1_048_576
/** What a waiting request takes at least; so one project cannot have all that may wait for a statement either. */
const leastBytes = 8_192
// Their bodies are in memory already.
const maxWaiting = 500
const maxWaitMs = 2_000

/** Accepts notifications. */
export function createEmitService(deps: EmitDeps) {
  const { metrics, database } = deps
  const write = createEmitWriter(deps)
  const readKept = createCoalesced<store.KeyPlace, store.KeptAnswer>({
    keyOf: ({ tenantId, applicationId, key }) => `${tenantId} ${applicationId} ${key}`,
    run: (keys) => store.readKeptAnswers(database.run, keys),
  })
  const memory = createFairShare({
    capacity: maxWaitingBytes,
    item: maxBodyBytes,
    maxWaiting,
    maxWaitMs,
    full: 'too many notifications wait to be written; try again',
  })

  /** What an emit with this key was answered before; null when nothing was. */
  const answerAgain = async (emit: Waiting): Promise<EmitAnswer | null> => {
    const { key, fingerprint } = emit
    const kept = key === null ? null : await readKept({ ...emit, key })
    if (kept === null) return null
    const { fingerprint: keptFingerprint, ...answer } = kept
    if (fingerprint === null || !keptFingerprint.equals(fingerprint)) throw keyReused()
    metrics.emits.inc({ outcome: 'repeated' })
    return answer
  }
  const accept = async (emit: Waiting): Promise<EmitAnswer> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const written = await write(emit)
      if (written.outcome === 'foreign') throw foreignPlace()
      if (written.outcome === 'off') throw commsDisabled()
      if (written.outcome === 'written') {
        metrics.emits.inc({ outcome: 'accepted' })
        metrics.recipients.inc(written.count)
        if (written.count > 0) deps.sendHint(hintOf(emit, written))
        return { notificationId: written.id, requestId: emit.requestId, recipientCount: written.count }
      }
      const answer = await answerAgain(emit)
      if (answer !== null) return answer
      if (written.outcome === 'past') throw isPast()
      // The key is that of an emit under way, or of one whose 24 hours have ended since.
      await sleep(firstWaitMs * 2 ** tries)
    }
    throw unavailable('the key is in use; try again')
  }

  return {
    /** Returns the answer once the notification is committed. */
    emit: async ({ bytes, input, ...place }: EmitRequest): Promise<EmitAnswer> => {
      const lease = memory.begin([place.projectId])
      try {
        await deps.checkRate(place)
        await lease.add(Math.max(bytes, leastBytes))
        const fingerprint = input.key === null ? null : sha256(canonicalText(input))
        return await accept({ ...place, ...input, fingerprint })
      } catch (error) {
        metrics.emits.inc({ outcome: emitRefusalOf(error) })
        throw error
      } finally {
        lease.release()
      }
    },
  }
}

/** An emit to very many takes longer than all tries; its key then gets a 503. */
const maxTries = 7
const firstWaitMs = 20
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

function hintOf(emit: Waiting, { id, createdAt, named }: Written): Parameters<SendHint>[0] {
  const { tenantId, applicationId, recipients, roles, type, title, severity } = emit
  return {
    tenantId,
    applicationId,
    audience: { users: named, roles: roles ?? [], members: recipients === null && roles === null },
    text: notificationText({ id, type, title, severity, createdAt }),
    mayDrop: false,
  }
}
