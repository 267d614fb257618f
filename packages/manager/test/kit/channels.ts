// Starts peers that communicate through Redis channels. Each has its own Redis client and listener, like a separate
// process.
import { type Channels, createChannelsFactory } from '../../src/platform/redis/channels.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { type Redis, type RedisOptions, createRedis } from '../../src/platform/redis/redis.ts'
import { lineCollector } from './app.ts'

export type Peer = {
  redis: Redis
  channels: Channels
  /** Received messages, as `channel message`. */
  heard: string[]
  /** Number of messages that were accepted for publishing and then lost. */
  lost: number
  logLines: Record<string, unknown>[]
  close(): Promise<void>
}

export type PeerOptions = Omit<RedisOptions, 'keyPrefix'> & {
  keyPrefix?: string
  limits?: { messages: number; bytes: number }
  /** Use production timeouts. */
  usesProductionTimeouts?: boolean
}

const generousTimeouts = {
  redis: { pingMs: 30_000, commandMs: 30_000 },
  channels: { subscribeMs: 30_000 },
}

/** Starts a peer without waiting until it is connected. */
export function startPeer({
  limits,
  usesProductionTimeouts = false,
  keyPrefix = 'peers',
  ...options
}: PeerOptions): Peer {
  const logLines: Record<string, unknown>[] = []
  const log = createLog('info', lineCollector(logLines))
  const metrics = createMetrics('test')
  const waits = usesProductionTimeouts ? {} : { timeouts: generousTimeouts.redis }
  const redis = createRedis({ ...waits, ...options, keyPrefix }, { log, metrics })
  const make = createChannelsFactory({
    redis,
    log,
    ...(limits === undefined ? {} : { limits }),
    ...(usesProductionTimeouts ? {} : generousTimeouts.channels),
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
