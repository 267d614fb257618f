// This feature manages live sockets, the WebSockets of users who have an application open, and sends hints to them.
// notifications/ accepts emits, inbox/ stores notifications, and platform/sockets/ implements the connections.
import { commsSettings } from '../../config/comms-settings.ts'
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { CreateChannels } from '../../platform/redis/channels.ts'
import type { ConnectionShares } from '../../platform/http/open-files.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createSockets } from '../../platform/sockets/sockets.ts'
import { type AdmissionDeps, createAdmissionService } from './admission.service.ts'
import { registerSocket } from './handshake.socket.ts'
import { type Hub, createHub } from './hub.service.ts'
import { type RevocationDeps, createRevocationService } from './revocation.service.ts'
import { type SocketMetrics, createSocketMetrics } from './sockets.metrics.ts'
import { socketSettings } from './sockets.settings.ts'

export type { SendHint } from './hints.pure.ts'
/** Lets other features send hints to open sockets. */
export type LiveSocketsApi = Pick<Hub, 'send'>

type Deps = Pick<AdmissionDeps, 'clock' | 'log' | 'database'> &
  Pick<RevocationDeps, 'readVersion'> & {
    config: Config
    channels: CreateChannels
    metrics: Metrics
    shares: ConnectionShares
  }

/** Provides the WebSocket route. `create` throws if the pong timeout is not compatible with the ping interval. */
export const liveSockets = defineFeature({
  name: 'liveSockets',
  role: 'comms',
  settings: socketSettings,
  maxSockets: (config) => selectSettings(config, socketSettings).commsMaxSockets,
  create: (deps: Deps) => {
    const metrics = createSocketMetrics(deps.metrics)
    // Processes with the role `api` have no sockets, but their users mark notifications.
    const sendsHints = deps.config.roles.some((role) => role === 'comms' || role === 'api')
    const hub = createHub({ ...deps, channels: sendsHints ? deps.channels : null, metrics })
    const services = createLiveServices(deps, hub, metrics)
    const api: LiveSocketsApi = { send: hub.send }
    return {
      routes: (server) => registerSocket(server, services),
      close: async () => {
        services.revocation.close()
        await hub.close()
      },
      api,
    }
  },
})

// The fraction of a process's sockets that one project can use. The rest stays available to other projects.
const projectShare = 0.8

/** Creates the sockets, their admission and their revocation. */
function createLiveServices(deps: Deps, hub: Hub, metrics: SocketMetrics) {
  const settings = selectSettings(deps.config, { ...commsSettings, ...socketSettings })
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
    fullCheckIntervalMs: settings.commsAccessCheckMs,
  })
  const admission = createAdmissionService({
    ...deps,
    hub,
    revocation,
    metrics,
    maxPerProject: Math.max(1, Math.floor(max * projectShare)),
    retentionDays: settings.commsRetentionDays,
    pingSeconds: pingEveryMs / 1_000,
    reconnectJitterMs: settings.commsReconnectJitterMs,
  })
  return { sockets, revocation, admission }
}
