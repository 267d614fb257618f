// Heartbeats that arrive within a short time share a statement, so 1,000 backends cost only a few statements
// per second. Each heartbeat is confirmed after its commit.
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { BackendMetrics } from './backends.metrics.ts'
import {
  type Heartbeat,
  type HeartbeatOutcome,
  recordHeartbeats,
  recordReception,
} from './heartbeats.store.ts'
import { createRegistrationNotFoundError, createRegistrationNotOwnedError } from './registrations.service.ts'

export type HeartbeatsDeps = { db: Db; metrics: BackendMetrics }
export type HeartbeatsService = ReturnType<typeof createHeartbeatsService>

// Backends send a heartbeat every 30 s, so this delay is not significant.
const minGapMs = 300
const maxBatch = 1_000

export function createHeartbeatsService({ db, metrics }: HeartbeatsDeps) {
  const createRecorder = (whenLocked: 'skip' | 'wait') =>
    createCoalescer<Heartbeat, HeartbeatOutcome>({
      getKey: ({ id, machineUserId }) => id + machineUserId,
      run: (heartbeats) => recordHeartbeats(db.idempotent, heartbeats, whenLocked),
      minGapMs,
      maxBatch,
      maxConcurrent: 1,
    })
  // If a row is locked for a long time, for example while its backend registers again, other heartbeats must not wait
  // for it.
  const [record, recordAfterLockWait] = [createRecorder('skip'), createRecorder('wait')]
  return {
    /** Returns the id of the registration once its heartbeat is committed. */
    accept: async (machineUserId: string, text: string): Promise<string> => {
      const id = parseUuid(text)
      const heartbeat = id === null ? null : { id, machineUserId }
      const firstOutcome = heartbeat === null ? 'unknown' : await record(heartbeat)
      const lastOutcome =
        firstOutcome === 'busy' && heartbeat !== null ? await recordAfterLockWait(heartbeat) : firstOutcome
      const outcome = lastOutcome === 'accepted' || lastOutcome === 'foreign' ? lastOutcome : 'unknown'
      metrics.heartbeats.inc({ outcome })
      if (outcome === 'foreign') throw createRegistrationNotOwnedError()
      if (outcome === 'unknown' || id === null) throw createRegistrationNotFoundError()
      return id
    },

    /** Every process that receives heartbeats must call this function every few seconds. */
    recordReception: (): Promise<void> => recordReception(db.idempotent),
  }
}
