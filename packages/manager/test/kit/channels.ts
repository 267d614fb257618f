// Processes that talk through channels, as far as channels are concerned: each has its own Redis object and listener.
import { type Channels, channelsOf } from '../../src/platform/redis/channels.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { type Redis, type RedisOptions, createRedis } from '../../src/platform/redis/redis.ts'
import { lineCollector } from './app.ts'

export type Peer = {
  redis: Redis
  channels: Channels
  /** What arrived, as `channel message`. */
  heard: string[]
  /** Messages that were taken and lost. */
  lost: number
  logLines: Record<string, unknown>[]
  close(): Promise<void>
}

export type PeerOptions = Omit<RedisOptions, 'keyPrefix'> & {
  keyPrefix?: string
  limits?: { messages: number; bytes: number }
  /** Waits as short as in production. */
  isHurried?: boolean
}

const patience = {
  redis: { pingMs: 30_000, commandMs: 30_000 },
  channels: { subscribeMs: 30_000 },
}

/** Starts one; nothing is waited for. */
export function startPeer({ limits, isHurried = false, keyPrefix = 'peers', ...options }: PeerOptions): Peer {
  const logLines: Record<string, unknown>[] = []
  const log = createLog('info', lineCollector(logLines))
  const metrics = createMetrics('test')
  const waits = isHurried ? {} : { timeouts: patience.redis }
  const redis = createRedis({ ...waits, ...options, keyPrefix }, { log, metrics })
  const make = channelsOf({
    redis,
    log,
    ...(limits === undefined ? {} : { limits }),
    ...(isHurried ? {} : patience.channels),
  })
  const heard: string[] = []
  const peer: Peer = {
    redis,
    heard,
    lost: 0,
    logLines,
    channels: make(
      (channel, message) => heard.push(`${channel} ${message}`),
      (count) => void (peer.lost += count),
    ),
    close: async () => {
      await peer.channels.close()
      await redis.close()
      metrics.registry.clear()
    },
  }
  return peer
}
