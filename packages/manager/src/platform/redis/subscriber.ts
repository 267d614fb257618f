// Subscriptions to sharded channels, on a connection that opens with the first subscription. In a cluster the library
// follows the slots. After a reconnect, all channels are subscribed again.
import type { Logger } from '../log/log.ts'
import type { Connection } from './connections.ts'
import { type Redis, getErrorReason, withTimeout } from './redis.ts'

/** Keeps channels subscribed across reconnects. */
export type Subscriber = {
  /**
   * Resolves to true when the channel is subscribed, or to false if the subscription takes too long and continues in
   * the background.
   */
  add(channel: string): Promise<boolean>
  remove(channel: string): void
  close(): void
}

const checkIntervalMs = 500
const refusalPauseMs = 5_000

/** The Redis client and the receiver of messages. */
export type SubscriberOptions = {
  redis: Redis
  log: Logger
  receive: (channel: string, message: string) => void
  subscribeMs?: number
}

/** Connects with the first subscription, and retries failed subscriptions until they are removed. */
export function createSubscriber(options: SubscriberOptions): Subscriber {
  const { redis, log, receive, subscribeMs = 1_000 } = options
  const refusal = createRefusal(log, 'SSUBSCRIBE', 'hints from other processes are lost')
  /** Channels and their subscription attempts; null if the attempt failed or its connection is closed. */
  const subscriptions = new Map<string, Promise<boolean> | null>()
  let connection: Connection | null = null
  let readyPromise: Promise<unknown> | undefined
  const openConnection = (): Connection => {
    const newConnection = redis.open()
    readyPromise = new Promise((resolve) => newConnection.once('ready', resolve))
    newConnection.on('smessage', (channel: string, message: string) => {
      if (subscriptions.has(channel)) receive(channel, message)
    })
    newConnection.on('error', () => undefined)
    newConnection.on('close', () => {
      for (const channel of subscriptions.keys()) subscriptions.set(channel, null)
    })
    newConnection.on('ready', subscribeMissing)
    return newConnection
  }
  const attemptSubscription = async (channel: string): Promise<boolean> => {
    try {
      await readyPromise
      await connection?.ssubscribe(channel)
      refusal.end()
      return true
    } catch (error) {
      if (subscriptions.has(channel)) subscriptions.set(channel, null)
      refusal.recordError(error)
      return false
    }
  }
  const subscribe = (channel: string): Promise<boolean> => {
    const attempt = attemptSubscription(channel)
    subscriptions.set(channel, attempt)
    return attempt
  }
  const subscribeMissing = (): void => {
    if (connection?.status !== 'ready' || refusal.isRecent()) return
    // A connection that does not respond to a ping is closed. The subscribers of a cluster only have TCP keep-alive.
    connection.ping().catch(() => undefined)
    for (const [channel, attempt] of subscriptions) if (attempt === null) void subscribe(channel)
  }
  const timer = setInterval(subscribeMissing, checkIntervalMs).unref()
  return {
    add: async (channel) => {
      connection ??= openConnection()
      const attempt = subscriptions.get(channel) ?? subscribe(channel)
      return redis.isDown(channel) ? false : withTimeout(subscribeMs, attempt).catch(() => false)
    },
    remove: (channel) => {
      subscriptions.delete(channel)
      const unsubscribe = async (): Promise<unknown> => connection?.sunsubscribe(channel)
      unsubscribe().catch(() => undefined)
    },
    close: () => {
      clearInterval(timer)
      connection?.disconnect()
    },
  }
}

/** Logs one line when Redis rejects a command, and one line when it accepts the command again. */
export function createRefusal(log: Logger, command: string, consequence: string) {
  let refusedAt = -Infinity
  return {
    isRecent: (): boolean => performance.now() - refusedAt < refusalPauseMs,
    recordError: (error: unknown): void => {
      const reason = getErrorReason(error)
      if (reason !== 'NOPERM' && reason !== 'ERR') return
      if (refusedAt === -Infinity)
        log.warn(
          { reason },
          `redis rejects ${command}: ${consequence}; use Redis 7 or newer and permit ${command}`,
        )
      refusedAt = performance.now()
    },
    end: (): void => {
      if (refusedAt !== -Infinity) log.info(`redis accepts ${command} again`)
      refusedAt = -Infinity
    },
  }
}
