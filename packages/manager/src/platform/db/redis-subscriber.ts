// Subscriptions to sharded channels: each is at the master that has the channel's slot, and follows it. A connection
// opens with the first channel of its server; when it is replaced, its channels are subscribed again.
import type { Logger } from '../log/log.ts'
import { isMisplaced, reasonOf, within } from './redis-client.ts'
import { type Connection, createConnections } from './redis-connections.ts'
import type { Shards } from './redis.ts'

export type Subscriber = {
  /** Resolves true when the channel is subscribed, false when that takes too long: it then goes on in the background. */
  add(channel: string): Promise<boolean>
  remove(channel: string): void
  close(): void
}

type Subscription = {
  channel: string
  /** Where it is subscribed. */
  at: Connection | null
  /** Where it is being subscribed. */
  next: Connection | null
  waiting: ((subscribed: boolean) => void)[]
}

const checkEveryMs = 500
const refusedMs = 5_000
const partSize = 500
const partsOf = (all: Subscription[]): Subscription[][] =>
  Array.from({ length: Math.ceil(all.length / partSize) }, (_, n) =>
    all.slice(n * partSize, (n + 1) * partSize),
  )
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref())
const defaultTimeouts = { subscribeMs: 1_000, answerMs: 3_000 }

export type SubscriberOptions = {
  shards: Shards
  log: Logger
  receive: (channel: string, message: string) => void
  timeouts?: { subscribeMs: number; answerMs: number }
}

export function createSubscriber({
  shards,
  log,
  receive,
  timeouts = defaultTimeouts,
}: SubscriberOptions): Subscriber {
  const wanted = new Map<string, Subscription>()
  const mover = createMover({ shards, log, receive, answerMs: timeouts.answerMs }, wanted)
  const remove = (channel: string): void => {
    const subscription = wanted.get(channel)
    wanted.delete(channel)
    if (subscription === undefined) return
    if (subscription.at !== null) leave(subscription.at, channel)
    for (const tell of subscription.waiting.splice(0)) tell(false)
  }
  return {
    add: async (channel) => {
      const subscription = wanted.get(channel) ?? { channel, at: null, next: null, waiting: [] }
      if (subscription.at !== null) return true
      wanted.set(channel, subscription)
      void mover.move(subscription)
      if (shards.isAway(channel)) return false
      return waitFor(subscription, timeouts.subscribeMs)
    },
    remove,
    close: () => {
      for (const channel of wanted.keys()) remove(channel)
      mover.close()
    },
  }
}

type Move = (subscription: Subscription) => Promise<void>
type MoverOptions = Omit<SubscriberOptions, 'timeouts'> & { answerMs: number }

/** Brings subscriptions to where they belong, and again when that changes or their connection ends. */
function createMover(
  { shards, log, receive, answerMs }: MoverOptions,
  wanted: ReadonlyMap<string, Subscription>,
) {
  const complaint = createComplaint(log)
  const { unsettle, ...rounds } = createRounds(
    wanted,
    () => connections.check(),
    (subscription) => move(subscription),
  )
  const connections = createConnections({
    shards,
    answerMs,
    receive: (from, message, channel) => {
      const at = wanted.get(channel)?.at
      // A former master may still send while its successor does already.
      if (at === from || at === null) receive(channel, message)
    },
    onLost: (connection, channel) => {
      unsettle()
      forget(channel === null ? wanted.values() : [wanted.get(channel)], connection)
    },
  })
  const subscribe = async (subscription: Subscription, connection: Connection): Promise<void> => {
    subscription.next = connection
    try {
      await connection.ready
      await within(answerMs, connection.client.sSubscribe(subscription.channel, connection.receive))
      complaint.end()
      if (connections.has(connection)) settle(subscription, connection, wanted)
      else unsettle()
    } catch (error) {
      if (isMisplaced(error)) shards.doubt()
      else if (!isReply(error)) connections.drop(connection)
      else if (complaint.begin(error)) await pause(refusedMs)
      unsettle()
    }
    if (subscription.next === connection) subscription.next = null
  }
  /** One that is under way is left alone. */
  const move: Move = async (subscription) => {
    const target = shards.of(subscription.channel)
    if (target !== null && [subscription.at?.place, subscription.next?.place].includes(target)) return
    const connection = target === null ? null : connections.at(target)
    if (connection === null) unsettle()
    else await subscribe(subscription, connection)
  }
  shards.onNews(() => {
    unsettle()
    rounds.run()
  })
  return {
    move,
    close: (): void => {
      rounds.close()
      connections.close()
    },
  }
}

/** Looks twice a second for what is not where it belongs, if anything may not be. */
function createRounds(wanted: ReadonlyMap<string, Subscription>, check: () => void, move: Move) {
  let isSettled = true
  let isMoving = false
  const round = async (): Promise<void> => {
    check()
    if (isSettled || isMoving) return
    isMoving = true
    isSettled = true
    // Not all at once: pings and what is asked for meanwhile would wait behind thousands.
    for (const part of partsOf([...wanted.values()])) await Promise.all(part.map(move))
    isMoving = false
  }
  const run = (): void => void round()
  const timer = setInterval(run, checkEveryMs)
  timer.unref()
  return { run, unsettle: () => void (isSettled = false), close: () => clearInterval(timer) }
}

function forget(subscriptions: Iterable<Subscription | undefined>, connection: Connection): void {
  for (const subscription of subscriptions) if (subscription?.at === connection) subscription.at = null
}

/** Redis sends from here on. The subscription may have been given up meanwhile, and may have been made again. */
function settle(
  subscription: Subscription,
  connection: Connection,
  wanted: ReadonlyMap<string, Subscription>,
): void {
  const { channel, at: former, waiting } = subscription
  const present = wanted.get(channel)
  if (present === undefined) leave(connection, channel)
  if (present !== subscription) return
  subscription.at = connection
  if (former !== null && former !== connection) leave(former, channel)
  for (const tell of waiting.splice(0)) tell(true)
}

function waitFor({ waiting }: Subscription, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => tell(false), ms)
    const tell = (subscribed: boolean): void => {
      clearTimeout(timer)
      const index = waiting.indexOf(tell)
      if (index !== -1) waiting.splice(index, 1)
      resolve(subscribed)
    }
    waiting.push(tell)
  })
}

/** The library needs the listener: without it, a subscription that follows at once would be forgotten. */
function leave(connection: Connection, channel: string): void {
  if (connection.client.isReady)
    connection.client.sUnsubscribe(channel, connection.receive).catch(() => undefined)
}

/** Redis has refused the command, and the connection is fine. */
const isReply = (error: unknown): boolean =>
  error instanceof Error && /^[A-Z]{3,20} /.test(error.message) && !('code' in error)

/** One line when Redis refuses subscriptions, and one when it takes them again. */
function createComplaint(log: Logger) {
  let begun = false
  return {
    begin: (error: unknown): boolean => {
      if (!begun)
        log.warn(
          { reason: reasonOf(error) },
          'redis refuses to subscribe: hints of other processes are lost; it must be version 7 or newer and permit SSUBSCRIBE',
        )
      return (begun = true)
    },
    end: (): void => {
      if (begun) log.info('redis takes subscriptions')
      begun = false
    },
  }
}
