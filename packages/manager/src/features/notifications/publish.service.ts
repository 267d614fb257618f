// Live data of backends: told to whoever holds a socket at the moment, never stored, and never waited for.
import type { Clock } from '../../platform/clock.ts'
import type { SendHint } from '../live-sockets/index.ts'
import type { CheckRate } from './application-rate.service.ts'
import type { CommsPlace, CommsState } from './comms-state.store.ts'
import { liveText } from './hint-texts.pure.ts'
import type { NotificationMetrics } from './notifications.metrics.ts'
import { commsDisabled, foreignPlace, refusalOf } from './refusals.pure.ts'

export type PublishDeps = {
  clock: Clock
  metrics: NotificationMetrics
  checkRate: CheckRate
  readState: (place: CommsPlace) => Promise<CommsState | null>
  sendHint: SendHint
}
export type PublishService = ReturnType<typeof createPublishService>
/** `data` is JSON. */
export type LiveData = { topic: string | null; data: string }

/** Accepts live data. */
export function createPublishService({ clock, metrics, checkRate, readState, sendHint }: PublishDeps) {
  const publish = async (place: CommsPlace, live: LiveData): Promise<void> => {
    await checkRate(place)
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
