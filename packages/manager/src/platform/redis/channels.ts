// Messages between the processes of an installation over Redis sharded pub/sub. A message is delivered at most once,
// and either promptly or never.
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Logger } from '../log/log.ts'
import type { Redis } from './redis.ts'
import { type SubscriberOptions, createRefusal, createSubscriber } from './subscriber.ts'

/** Publishes messages to other processes and subscribes to theirs. */
export type Channels = {
  /**
   * Sends to the other processes. Returns false if the message is lost, because Redis is unreachable or too much is
   * pending. Never waits and never throws.
   */
  publish(channel: string, message: string): boolean
  /**
   * Resolves to true once messages of the channel reach the listener. Resolves to false if Redis is unreachable, and
   * then subscribes as soon as Redis is available again. Resolves within a bounded time.
   */
  subscribe(channel: string): Promise<boolean>
  unsubscribe(channel: string): void
  close(): Promise<void>
}

/** `onLost` receives the number of messages that `publish` accepted but Redis did not. */
export type CreateChannels = (
  listener: (channel: string, message: string) => void,
  onLost?: (count: number) => void,
) => Channels

const defaultLimits = { messages: 4_000, bytes: 4 * 1_024 * 1_024 }

/** The Redis client, and the limits for channels on it. */
export type ChannelsOptions = {
  redis: Redis
  log: Logger
  /** Limits for messages that wait for Redis. */
  limits?: { messages: number; bytes: number }
  subscribeMs?: SubscriberOptions['subscribeMs']
}

/** Returns a function that creates channels. Each one subscribes on its own connection and ignores its own messages. */
export const createChannelsFactory =
  ({ redis, log, limits = defaultLimits, ...options }: ChannelsOptions): CreateChannels =>
  (listener, onLost = () => undefined) => {
    const prefix = redis.key('hints:{')
    const getChannelName = (channel: string): string => `${prefix}${channel}}`
    // Redis also delivers a message to the process that published it, if that process has subscribed.
    const senderId = randomBytes(9).toString('base64url')
    let sentCount = 0
    const deduplicator = createDeduplicator()
    const publisher = createPublisher({ redis, log, limits, onLost })
    const subscriber = createSubscriber({
      redis,
      log,
      receive: (name, message) => {
        const text = message.startsWith(senderId) ? null : deduplicator.accept(name, message)
        if (text !== null) listener(name.slice(prefix.length, -1), text)
      },
      ...options,
    })
    return {
      publish: (channel, message) =>
        publisher.publish(getChannelName(channel), `${senderId}${++sentCount} ${message}`),
      subscribe: (channel) => subscriber.add(getChannelName(channel)),
      unsubscribe: (channel) => subscriber.remove(getChannelName(channel)),
      close: async () => {
        subscriber.close()
        await Promise.resolve()
      },
    }
  }

const senderLength = 12
const maxSenders = 20_000

/**
 * Accepts each message once: during a failover, both servers may deliver the same message. The messages from one
 * sender on a channel have increasing numbers.
 */
function createDeduplicator() {
  const lastNumbers = new LRUCache<string, number>({ max: maxSenders })
  return {
    /** Returns the message without its header, or null if it is a duplicate or has no valid header. */
    accept: (name: string, message: string): string | null => {
      const end = message.indexOf(' ', senderLength)
      const number = end === -1 ? Number.NaN : Number(message.slice(senderLength, end))
      const sender = `${name} ${message.slice(0, senderLength)}`
      if (!(number > (lastNumbers.get(sender) ?? 0))) return null
      lastNumbers.set(sender, number)
      return message.slice(end + 1)
    },
  }
}

type PublisherOptions = Required<Pick<ChannelsOptions, 'redis' | 'log' | 'limits'>> & {
  onLost: (count: number) => void
}

function createPublisher({ redis, log, limits, onLost }: PublisherOptions) {
  let messages = 0
  let bytes = 0
  const refusal = createRefusal(log, 'SPUBLISH', 'hints to other processes are lost')
  return {
    publish: (channel: string, message: string): boolean => {
      const size = Buffer.byteLength(message)
      if (messages >= limits.messages || bytes + size > limits.bytes) return false
      const publication = redis.publish(channel, message)
      if (publication === null) return false
      messages++
      bytes += size
      publication
        .then(refusal.end, (error: unknown) => {
          onLost(1)
          refusal.recordError(error)
        })
        .finally(() => {
          messages--
          bytes -= size
        })
      return true
    },
  }
}
