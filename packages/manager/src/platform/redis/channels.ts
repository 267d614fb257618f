// Messages between the processes of an installation, through Redis (sharded pub/sub): at most once, and soon or never.
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Logger } from '../log/log.ts'
import type { Redis } from './redis.ts'
import { type SubscriberOptions, createRefusal, createSubscriber } from './subscriber.ts'

export type Channels = {
  /** Sends to the other processes; false when it is known to be lost (Redis away, too much pending). Never waits, never throws. */
  publish(channel: string, message: string): boolean
  /**
   * From when it resolves true, messages of the channel reach the listener; resolves false when Redis is away, and then
   * it subscribes as soon as Redis is back. Bounded in time.
   */
  subscribe(channel: string): Promise<boolean>
  unsubscribe(channel: string): void
  close(): Promise<void>
}

/** `onLost` counts messages that `publish` took and Redis did not. */
export type CreateChannels = (
  listener: (channel: string, message: string) => void,
  onLost?: (count: number) => void,
) => Channels

const defaultLimits = { messages: 4_000, bytes: 4 * 1_024 * 1_024 }

export type ChannelsOptions = {
  redis: Redis
  log: Logger
  /** What may wait for Redis. */
  limits?: { messages: number; bytes: number }
  subscribeMs?: SubscriberOptions['subscribeMs']
}

/** Makes channels; each has its own connections and does not hear itself. */
export const channelsOf =
  ({ redis, log, limits = defaultLimits, ...options }: ChannelsOptions): CreateChannels =>
  (listener, onLost = () => undefined) => {
    const prefix = redis.key('hints:{')
    const nameOf = (channel: string): string => `${prefix}${channel}}`
    // Redis sends a message to the process that published it too, if it has subscribed.
    const own = randomBytes(9).toString('base64url')
    let sent = 0
    const inOrder = createInOrder()
    const publisher = createPublisher({ redis, log, limits, onLost })
    const subscriber = createSubscriber({
      redis,
      log,
      receive: (name, message) => {
        const text = message.startsWith(own) ? null : inOrder.take(name, message)
        if (text !== null) listener(name.slice(prefix.length, -1), text)
      },
      ...options,
    })
    return {
      publish: (channel, message) => publisher.publish(nameOf(channel), `${own}${++sent} ${message}`),
      subscribe: (channel) => subscriber.add(nameOf(channel)),
      unsubscribe: (channel) => subscriber.remove(nameOf(channel)),
      close: async () => {
        subscriber.close()
        await Promise.resolve()
      },
    }
  }

const senderLength = 12
const maxSenders = 20_000

/**
 * Lets each message through once: while another server takes over, both may bring the same one. Messages of a sender on a
 * channel have rising numbers.
 */
function createInOrder() {
  const last = new LRUCache<string, number>({ max: maxSenders })
  return {
    /** The message without its head; null for one that came before, or that is none of ours. */
    take: (name: string, message: string): string | null => {
      const end = message.indexOf(' ', senderLength)
      const number = end === -1 ? Number.NaN : Number(message.slice(senderLength, end))
      const sender = `${name} ${message.slice(0, senderLength)}`
      if (!(number > (last.get(sender) ?? 0))) return null
      last.set(sender, number)
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
  const refusal = createRefusal(log, 'publish: hints to', 'SPUBLISH')
  return {
    publish: (channel: string, message: string): boolean => {
      const size = Buffer.byteLength(message)
      if (messages >= limits.messages || bytes + size > limits.bytes) return false
      const sent = redis.publish(channel, message)
      if (sent === null) return false
      messages++
      bytes += size
      sent
        .then(refusal.end, (error: unknown) => {
          onLost(1)
          refusal.note(error)
        })
        .finally(() => {
          messages--
          bytes -= size
        })
      return true
    },
  }
}
