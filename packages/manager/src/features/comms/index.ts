// Comms: notifications that people find in their inbox, and hints for those who are looking at the moment. Who may call as
// a backend is not here (machine-users/), nor is how sockets are held (platform/sockets/).
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { createCoalesced } from '../../platform/db/coalesce.ts'
import type { CreateChannels } from '../../platform/db/channels.ts'
import type { Database } from '../../platform/db/database.ts'
import type { Redis } from '../../platform/db/redis.ts'
import type { ConnectionShares } from '../../platform/http/open-files.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createSockets } from '../../platform/sockets/sockets.ts'
import { type RateLimits, createRateLimit } from '../../platform/throttle/rate-limit.ts'
import { type AdmissionDeps, createAdmissionService } from './admission.service.ts'
import { createApplicationRate } from './application-rate.service.ts'
import { type CommsPlace, type CommsState, placeKey, readStates } from './comms-state.store.ts'
import { createCommsMetrics } from './comms.metrics.ts'
import { commsSettings } from './comms.settings.ts'
import { registerSocket } from './comms.socket.ts'
import { registerEmitRoutes } from './emit.routes.ts'
import { type EmitDeps, createEmitService } from './emit.service.ts'
import type { SendHint } from './hints.pure.ts'
import { createHub } from './hub.service.ts'
import { registerInboxRoutes } from './inbox.routes.ts'
import { createInboxService } from './inbox.service.ts'
import { createPublishService } from './publish.service.ts'
import { type RetentionDeps, createRetentionSchedules } from './retention.service.ts'
import { type RevocationDeps, createRevocationService } from './revocation.service.ts'
import { createSocketMetrics } from './sockets.metrics.ts'
import { socketSettings } from './sockets.settings.ts'

type Deps = Pick<AdmissionDeps, 'clock' | 'log'> &
  Pick<EmitDeps, 'db'> &
  Pick<RevocationDeps, 'readVersion'> &
  RetentionDeps & {
    config: Config
    database: Database
    redis: Redis
    channels: CreateChannels
    metrics: Metrics
    shares: ConnectionShares
  }

export const comms = defineFeature({
  name: 'comms',
  role: 'comms',
  create: (deps: Deps) => {
    const { commsRetentionDays: retentionDays } = settingsOf(deps.config, commsSettings)
    const metrics = createSocketMetrics(deps.metrics)
    const isServed = deps.config.roles.includes('comms')
    const hub = createHub({ ...deps, channels: isServed ? deps.channels : null, metrics })
    const live = createLive(deps, hub, metrics)
    const senders = createSenders(deps, hub.send)
    const inbox = createInboxService({ ...deps, retentionDays, sendHint: hub.send })
    return {
      routes: (server) => {
        registerEmitRoutes(server, senders)
        registerInboxRoutes(server, inbox)
        registerSocket(server, live)
      },
      schedules: createRetentionSchedules(deps, retentionDays),
      close: async () => {
        live.revocation.close()
        await hub.close()
      },
      api: {},
    }
  },
})

/** What backends send, each within the limits of its application. */
function createSenders(deps: Deps, sendHint: SendHint) {
  const settings = settingsOf(deps.config, commsSettings)
  const readState = createCoalesced<CommsPlace, CommsState>({
    keyOf: placeKey,
    run: (places) => readStates(deps.database.read, places),
  })
  const rateOf = (kind: string, limits: RateLimits) =>
    createApplicationRate({ limit: createRateLimit(kind, limits, deps.redis), readState })
  const shared = { ...deps, metrics: createCommsMetrics(deps.metrics), readState, sendHint }
  const emitLimit = { perSecond: settings.commsEmitRate, burst: settings.commsEmitBurst }
  const publishLimit = { perSecond: settings.commsPublishRate, burst: settings.commsPublishBurst }
  return {
    emits: createEmitService({ ...shared, checkRate: rateOf('emit', emitLimit) }),
    publishes: createPublishService({ ...shared, checkRate: rateOf('publish', publishLimit) }),
  }
}

// What is left of the sockets of a process is for other projects.
const projectShare = 0.8

/** The sockets, how they begin, and how they end when access does. */
function createLive(
  deps: Deps,
  hub: ReturnType<typeof createHub>,
  metrics: ReturnType<typeof createSocketMetrics>,
) {
  const settings = settingsOf(deps.config, { ...commsSettings, ...socketSettings })
  const { commsPingIntervalMs: pingEveryMs, commsPongTimeoutMs: pongWithinMs } = settings
  if (pongWithinMs > 0.9 * pingEveryMs)
    throw new Error('comms.pong_timeout must be at most nine tenths of comms.ping_interval')
  const max = deps.shares.sockets
  const sockets = createSockets({
    max,
    pingEveryMs,
    pongWithinMs,
    maxAgeMs: settings.commsSocketMaxAgeMs,
    onRefused: () => metrics.refused.inc({ limit: 'process' }),
    onDropped: metrics.onDropped,
    onClosed: metrics.onClosed,
  })
  metrics.watch(sockets)
  const revocation = createRevocationService({
    ...deps,
    rooms: hub.rooms,
    fullEveryMs: settings.commsAccessCheckMs,
  })
  const admission = createAdmissionService({
    ...deps,
    hub,
    revocation,
    metrics,
    maxOfProject: Math.max(1, Math.floor(max * projectShare)),
    retentionDays: settings.commsRetentionDays,
    pingSeconds: pingEveryMs / 1_000,
    reconnectJitterMs: settings.commsReconnectJitterMs,
  })
  return { sockets, revocation, admission }
}
