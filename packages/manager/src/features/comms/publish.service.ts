// Live data of backends: told to whoever holds a socket at the moment, never stored, and never waited for.
import type { Clock } from '../../platform/clock.ts'
import { createCoalesced } from '../../platform/db/coalesce.ts'
import type { Database } from '../../platform/db/database.ts'
import type { RateLimit } from '../../platform/throttle/rate-limit.ts'
import { type CommsPlace, type CommsState, placeKey, readStates } from './comms-state.store.ts'
import type { CommsMetrics } from './comms.metrics.ts'
import { type SendHint, liveText } from './hints.pure.ts'
import { checkRate, commsDisabled, foreignPlace, refusalOf } from './refusals.pure.ts'

export type PublishDeps = {
  database: Pick<Database, 'read'>
  clock: Clock
  metrics: CommsMetrics
  limit: RateLimit
  sendHint: SendHint
}
export type PublishService = ReturnType<typeof createPublishService>
/** `data` is JSON. */
export type LiveData = { topic: string | null; data: string }

/** Accepts live data. */
export function createPublishService({ database, clock, metrics, limit, sendHint }: PublishDeps) {
  const readState = createCoalesced<CommsPlace, CommsState>({
    keyOf: placeKey,
    run: (places) => readStates(database.read, places),
  })
  const publish = async (place: CommsPlace, live: LiveData): Promise<void> => {
    await checkRate(limit, place)
    const state = await readState(place)
    if (state !== 'on') throw state === 'off' ? commsDisabled() : foreignPlace()
    const { tenantId, applicationId } = place
    const text = liveText({ ...live, publishedAt: clock.now().toISOString() })
    sendHint({ tenantId, applicationId, audience: { everyone: true }, text, mayDrop: true })
  }
  return {
    /** Returns once the hint is on its way, whoever gets it. */
    publish: async (place: CommsPlace, live: LiveData): Promise<void> => {
      try {
        await publish(place, live)
        metrics.publishes.inc({ outcome: 'accepted' })
      } catch (error) {
        metrics.publishes.inc({ outcome: refusalOf(error) })
        throw error
      }
    },
  }
}
