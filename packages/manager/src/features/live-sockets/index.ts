// Live sockets: the websockets of people who look at an application, and the hints they get. Notifications are not here
// (notifications/), nor are inboxes (inbox/), nor is how sockets are held (platform/sockets/).
import { commsSettings } from '../../config/comms-settings.ts'
import { type Config, settingsOf } from '../../config/config.ts'
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
export type LiveSocketsApi = Pick<Hub, 'send'>

type Deps = Pick<AdmissionDeps, 'clock' | 'log' | 'database'> &
  Pick<RevocationDeps, 'readVersion'> & {
    config: Config
    channels: CreateChannels
    metrics: Metrics
    shares: ConnectionShares
  }

export const liveSockets = defineFeature({
  name: 'liveSockets',
  role: 'comms',
  settings: socketSettings,
  maxSockets: (config) => settingsOf(config, socketSettings).commsMaxSockets,
  create: (deps: Deps) => {
    const metrics = createSocketMetrics(deps.metrics)
    const isServed = deps.config.roles.includes('comms')
    const hub = createHub({ ...deps, channels: isServed ? deps.channels : null, metrics })
    const live = createLive(deps, hub, metrics)
    const api: LiveSocketsApi = { send: hub.send }
    return {
      routes: (server) => registerSocket(server, live),
      close: async () => {
        live.revocation.close()
        await hub.close()
      },
      api,
    }
  },
})

// What is left of the sockets of a process is for other projects.
const projectShare = 0.8

/** The sockets, how they begin, and how they end when access does. */
function createLive(deps: Deps, hub: Hub, metrics: SocketMetrics) {
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
