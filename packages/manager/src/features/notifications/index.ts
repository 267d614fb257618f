// This feature accepts emits and live data from backends, and contains their rate limits, retention and counts.
// inbox/ lists notifications, live-sockets/ delivers hints, and machine-users/ authenticates backends.
import { commsSettings } from '../../config/comms-settings.ts'
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Redis } from '../../platform/redis/redis.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type RateLimits, createRateLimit } from '../../platform/throttle/rate-limit.ts'
import type { LiveSocketsApi } from '../live-sockets/index.ts'
import { createApplicationRate } from './application-rate.service.ts'
import { type CommsState, type CommsTarget, readStates, formatTargetKey } from './comms-state.store.ts'
import { registerEmitRoutes } from './emit.routes.ts'
import { type EmitDeps, createEmitService } from './emit.service.ts'
import { createCountsSchedules } from './notification-counts-roll-up.service.ts'
import { createNotificationCountsResolvers } from './notification-counts.resolvers.ts'
import { createNotificationCountsService } from './notification-counts.service.ts'
import { createNotificationMetrics } from './notifications.metrics.ts'
import { notificationSettings } from './notifications.settings.ts'
import { createPublishService } from './publish.service.ts'
import { type RetentionDeps, createRetentionSchedules } from './retention.service.ts'

type Deps = Pick<EmitDeps, 'db' | 'database' | 'clock'> &
  RetentionDeps & { config: Config; redis: Redis; metrics: Metrics; liveSockets: LiveSocketsApi }

/** Provides the emit and publish routes for backends, the retention schedules and the daily counts. */
export const notifications = defineFeature({
  name: 'notifications',
  role: 'comms',
  sdl: readSdl(import.meta.url, './notification-counts.graphql'),
  settings: notificationSettings,
  create: (deps: Deps) => {
    const { commsRetentionDays } = selectSettings(deps.config, commsSettings)
    const senders = createSenders(deps)
    return {
      resolvers: createNotificationCountsResolvers(createNotificationCountsService(deps)),
      routes: (server) => registerEmitRoutes(server, senders),
      schedules: [
        ...createRetentionSchedules(deps, commsRetentionDays),
        ...createCountsSchedules(deps, commsRetentionDays),
      ],
      api: {},
    }
  },
})

/** Creates the emit and publish services. Each service limits the rate of every application separately. */
function createSenders(deps: Deps) {
  const settings = selectSettings(deps.config, notificationSettings)
  const readState = createCoalescer<CommsTarget, CommsState>({
    getKey: formatTargetKey,
    run: (targets) => readStates(deps.database.run, targets),
  })
  const createRateCheck = (kind: string, limits: RateLimits) =>
    createApplicationRate({ limit: createRateLimit(kind, limits, deps.redis), readState })
  const metrics = createNotificationMetrics(deps.metrics)
  const sharedDeps = { ...deps, metrics, readState, sendHint: deps.liveSockets.send }
  const emitLimit = { perSecond: settings.commsEmitRate, burst: settings.commsEmitBurst }
  const publishLimit = { perSecond: settings.commsPublishRate, burst: settings.commsPublishBurst }
  return {
    emits: createEmitService({ ...sharedDeps, checkRate: createRateCheck('emit', emitLimit) }),
    publishes: createPublishService({ ...sharedDeps, checkRate: createRateCheck('publish', publishLimit) }),
  }
}
