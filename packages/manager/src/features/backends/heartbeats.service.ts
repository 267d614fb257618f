// Heartbeats of backends. Those that arrive within a moment share a statement, so that a thousand backends cost a few
// statements a second; each is answered after the commit that holds it.
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { BackendMetrics } from './backends.metrics.ts'
import { type Heartbeat, type HeartbeatOutcome, noteReception, recordHeartbeats } from './heartbeats.store.ts'
import { registrationNotFound, registrationOfAnother } from './registrations.service.ts'

export type HeartbeatsDeps = { db: Db; metrics: BackendMetrics }
export type HeartbeatsService = ReturnType<typeof createHeartbeatsService>

// Backends send one every 30 seconds: none of them minds a moment.
const minGapMs = 300
const maxBatch = 1_000

/** Records heartbeats. */
export function createHeartbeatsService({ db, metrics }: HeartbeatsDeps) {
  const recorder = (whenLocked: 'skip' | 'wait') =>
    createCoalesced<Heartbeat, HeartbeatOutcome>({
      keyOf: ({ id, machineUserId }) => id + machineUserId,
      run: (heartbeats) => recordHeartbeats(db.idempotent, heartbeats, whenLocked),
      minGapMs,
      maxBatch,
      atOnce: 1,
    })
  // One row that is locked for long, say while its backend registers again, must not hold up all the others.
  const [record, recordPatiently] = [recorder('skip'), recorder('wait')]
  return {
    /** Returns the id of the registration once its heartbeat is committed. */
    accept: async (machineUserId: string, text: string): Promise<string> => {
      const id = parseUuid(text)
      const heartbeat = id === null ? null : { id, machineUserId }
      const first = heartbeat === null ? 'unknown' : await record(heartbeat)
      const last = first === 'busy' && heartbeat !== null ? await recordPatiently(heartbeat) : first
      const outcome = last === 'accepted' || last === 'foreign' ? last : 'unknown'
      metrics.heartbeats.inc({ outcome })
      if (outcome === 'foreign') throw registrationOfAnother()
      if (outcome === 'unknown' || id === null) throw registrationNotFound()
      return id
    },

    /** To be called every few seconds by each process that heartbeats are sent to. */
    noteReception: (): Promise<void> => noteReception(db.idempotent),
  }
}
