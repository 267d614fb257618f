// This feature accepts emits and live data of backends, and contains their rate limits and retention. inbox/ lists
// notifications, live-sockets/ delivers hints, and machine-users/ authenticates backends.
import { commsSettings } from '../../config/comms-settings.ts'
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Redis } from '../../platform/redis/redis.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type RateLimits, createRateLimit } from '../../platform/throttle/rate-limit.ts'
import type { LiveSocketsApi } from '../live-sockets/index.ts'
import { createApplicationRate } from './application-rate.service.ts'
import { type CommsState, type CommsTarget, readStates, targetKey } from './comms-state.store.ts'
import { registerEmitRoutes } from './emit.routes.ts'
import { type EmitDeps, createEmitService } from './emit.service.ts'
import { createNotificationMetrics } from './notifications.metrics.ts'
import { notificationSettings } from './notifications.settings.ts'
import { createPublishService } from './publish.service.ts'
import { type RetentionDeps, createRetentionSchedules } from './retention.service.ts'

type Deps = Pick<EmitDeps, 'db' | 'database' | 'clock'> &
  RetentionDeps & { config: Config; redis: Redis; metrics: Metrics; liveSockets: LiveSocketsApi }

/** Provides the emit and publish routes for backends and the retention schedules. */
export const notifications = defineFeature({
  name: 'notifications',
  role: 'comms',
  settings: notificationSettings,
  create: (deps: Deps) => {
    const { commsRetentionDays } = settingsOf(deps.config, commsSettings)
    const senders = createSenders(deps)
    return {
      routes: (server) => registerEmitRoutes(server, senders),
      schedules: createRetentionSchedules(deps, commsRetentionDays),
      api: {},
    }
  },
})

/** Creates the emit and publish services, each with the rate limit of its application. */
function createSenders(deps: Deps) {
  const settings = settingsOf(deps.config, notificationSettings)
  const readState = createCoalesced<CommsTarget, CommsState>({
    keyOf: targetKey,
    run: (targets) => readStates(deps.database.run, targets),
  })
  const rateOf = (kind: string, limits: RateLimits) =>
    createApplicationRate({ limit: createRateLimit(kind, limits, deps.redis), readState })
  const metrics = createNotificationMetrics(deps.metrics)
  const shared = { ...deps, metrics, readState, sendHint: deps.liveSockets.send }
  const emitLimit = { perSecond: settings.commsEmitRate, burst: settings.commsEmitBurst }
  const publishLimit = { perSecond: settings.commsPublishRate, burst: settings.commsPublishBurst }
  return {
    emits: createEmitService({ ...shared, checkRate: rateOf('emit', emitLimit) }),
    publishes: createPublishService({ ...shared, checkRate: rateOf('publish', publishLimit) }),
  }
}
