// Publishes live data from backends to the sockets that are currently open. Live data is not stored, and the service
// does not wait for its delivery.
import type { Clock } from '../../platform/clock.ts'
import type { SendHint } from '../live-sockets/index.ts'
import type { CheckRate } from './application-rate.service.ts'
import type { CommsState, CommsTarget } from './comms-state.store.ts'
import { buildLiveFrame } from './hint-texts.pure.ts'
import type { NotificationMetrics } from './notifications.metrics.ts'
import { createCommsDisabledError, createForeignTargetError, getRefusalLabel } from './refusals.pure.ts'

export type PublishDeps = {
  clock: Clock
  metrics: NotificationMetrics
  checkRate: CheckRate
  readState: (target: CommsTarget) => Promise<CommsState | null>
  sendHint: SendHint
}
export type PublishService = ReturnType<typeof createPublishService>
/** `data` is JSON text. */
export type LiveData = { topic: string | null; data: string }

export function createPublishService({ clock, metrics, checkRate, readState, sendHint }: PublishDeps) {
  const publish = async (target: CommsTarget, live: LiveData): Promise<void> => {
    await checkRate(target)
    const state = await readState(target)
    if (state !== 'on') throw state === 'off' ? createCommsDisabledError() : createForeignTargetError()
    const { tenantId, applicationId } = target
    const text = buildLiveFrame({ ...live, publishedAt: clock.now().toISOString() })
    sendHint({ tenantId, applicationId, audience: { everyone: true }, text, mayDrop: true })
  }
  return {
    /** Resolves when the hint has been sent, even if no socket receives it. */
    publish: async (target: CommsTarget, live: LiveData): Promise<void> => {
      try {
        await publish(target, live)
        metrics.publishes.inc({ outcome: 'accepted' })
      } catch (error) {
        metrics.publishes.inc({ outcome: getRefusalLabel(error) })
        throw error
      }
    },
  }
}
