// Subscriptions to sharded channels, on a connection that opens with the first of them. In a cluster the library follows the
// slots; a connection that is opened again subscribes to everything again.
import type { Logger } from '../log/log.ts'
import type { Connection } from './connections.ts'
import { type Redis, reasonOf, within } from './redis.ts'

export type Subscriber = {
  /** Resolves true when the channel is subscribed, false when that takes too long: it then goes on in the background. */
  add(channel: string): Promise<boolean>
  remove(channel: string): void
  close(): void
}

const checkEveryMs = 500
const refusedMs = 5_000

export type SubscriberOptions = {
  redis: Redis
  log: Logger
  receive: (channel: string, message: string) => void
  subscribeMs?: number
}

export function createSubscriber(options: SubscriberOptions): Subscriber {
  const { redis, log, receive, subscribeMs = 1_000 } = options
  const refusal = createRefusal(log, 'subscribe: hints of', 'SSUBSCRIBE')
  /** The channels with their attempt; null where it failed, or its connection is closed. */
  const wanted = new Map<string, Promise<boolean> | null>()
  let connection: Connection | null = null
  let firstReady: Promise<unknown> | undefined
  const open = (): Connection => {
    const opened = redis.open()
    firstReady = new Promise((resolve) => opened.once('ready', resolve))
    opened.on('smessage', (channel: string, message: string) => {
      if (wanted.has(channel)) receive(channel, message)
    })
    opened.on('error', () => undefined)
    opened.on('close', () => {
      for (const channel of wanted.keys()) wanted.set(channel, null)
    })
    opened.on('ready', subscribeMissing)
    return opened
  }
  const attempt = async (channel: string): Promise<boolean> => {
    try {
      await firstReady
      await connection?.ssubscribe(channel)
      refusal.end()
      return true
    } catch (error) {
      if (wanted.has(channel)) wanted.set(channel, null)
      refusal.note(error)
      return false
    }
  }
  const subscribe = (channel: string): Promise<boolean> => {
    const attempted = attempt(channel)
    wanted.set(channel, attempted)
    return attempted
  }
  const subscribeMissing = (): void => {
    if (connection?.status !== 'ready' || refusal.isRecent()) return
    // A connection that leaves a ping unanswered is closed. The subscribers of a cluster have only keep-alives.
    connection.ping().catch(() => undefined)
    for (const [channel, attempted] of wanted) if (attempted === null) void subscribe(channel)
  }
  const timer = setInterval(subscribeMissing, checkEveryMs).unref()
  return {
    add: async (channel) => {
      connection ??= open()
      const attempted = wanted.get(channel) ?? subscribe(channel)
      return redis.isDown(channel) ? false : within(subscribeMs, attempted).catch(() => false)
    },
    remove: (channel) => {
      wanted.delete(channel)
      const leave = async (): Promise<unknown> => connection?.sunsubscribe(channel)
      leave().catch(() => undefined)
    },
    close: () => {
      clearInterval(timer)
      connection?.disconnect()
    },
  }
}

/** One line when Redis refuses a command, and one when it accepts it again. */
export function createRefusal(log: Logger, what: string, command: string) {
  let refusedAt = -Infinity
  return {
    isRecent: (): boolean => performance.now() - refusedAt < refusedMs,
    note: (error: unknown): void => {
      const reason = reasonOf(error)
      if (reason !== 'NOPERM' && reason !== 'ERR') return
      if (refusedAt === -Infinity)
        log.warn(
          { reason },
          `redis refuses to ${what} other processes are lost; it must be version 7 or newer and permit ${command}`,
        )
      refusedAt = performance.now()
    },
    end: (): void => {
      if (refusedAt !== -Infinity) log.info(`redis accepts ${command}`)
      refusedAt = -Infinity
    },
  }
}
