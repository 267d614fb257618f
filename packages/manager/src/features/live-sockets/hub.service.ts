// Sends hints to the sockets of this process and, through channels, to the sockets of other processes. A
// process subscribes only to the channels of tenants that have sockets in it.
import type { Clock } from '../../platform/clock.ts'
import type { Channels, CreateChannels } from '../../platform/redis/channels.ts'
import { prepareFrame } from '../../platform/sockets/frames.ts'
import type { SocketMetrics } from './sockets.metrics.ts'
import { createFanOut } from './fan-out.service.ts'
import { decodeHint, encodeHint, maxMessageLength } from './hint-message.pure.ts'
import type { Hint, SendHint } from './hints.pure.ts'
import { type Delivery, type JoinRequest, type Member, type Rooms, createRooms } from './rooms.service.ts'

export type HubDeps = {
  /** Null in a process that has no sockets and sends no hints. */
  channels: CreateChannels | null
  clock: Clock
  metrics: SocketMetrics
  /**
   * How long a subscription is kept after the last socket of a tenant closes, so that a page reload does not
   * resubscribe.
   */
  lingerMs?: number
}

export type Hub = {
  send: SendHint
  rooms: Rooms
  /** Adds a socket to its room before its access is verified. Returns null if the user has too many sockets. */
  enter(this: void, request: JoinRequest): Member | null
  /** Resolves when the tenant channel is subscribed or the subscription has failed. */
  waitForSubscription(this: void, tenantId: string): Promise<unknown>
  /** Sends the buffered frames to a member and ends the buffering. */
  release(this: void, member: Member): void
  close(this: void): Promise<void>
}

const noChannels: Channels = {
  publish: () => false,
  subscribe: () => Promise.resolve(false),
  unsubscribe: () => undefined,
  close: () => Promise.resolve(),
}

export function createHub({ channels: createChannels, clock, metrics, lingerMs = 10_000 }: HubDeps): Hub {
  const { deliver, release } = createFanOut(metrics.fanOut)
  const receive = (tenantId: string, message: string): void => {
    const hintMessage = decodeHint(message)
    if (hintMessage === null) return
    metrics.pubsubLag.observe(Math.max(0, clock.now().getTime() - hintMessage.sentAt) / 1_000)
    sendLocal({ tenantId, ...hintMessage.hint })
  }
  const channels =
    createChannels === null ? noChannels : createChannels(receive, (count) => metrics.hintsLost.inc(count))
  const { addTenant, removeTenant, waitUntilSubscribed, stop } = createSubscriptions(channels, lingerMs)
  const rooms = createRooms({ onTenantJoined: addTenant, onTenantLeft: removeTenant })
  const sendLocal = (hint: Hint): void => {
    const room = rooms.find(hint.tenantId, hint.applicationId)
    if (room !== undefined) deliver(room, createDelivery(hint))
  }
  const publish = ({ tenantId, ...hint }: Hint): boolean => {
    const message = encodeHint({ sentAt: clock.now().getTime(), hint })
    return message.length <= maxMessageLength && channels.publish(tenantId, message)
  }
  return {
    rooms,
    enter: rooms.enter,
    waitForSubscription: waitUntilSubscribed,
    release,
    send: (hint) => {
      sendLocal(hint)
      if (!publish(hint)) metrics.hintsLost.inc()
    },
    close: () => {
      stop()
      return channels.close()
    },
  }
}

/** Converts a hint to a delivery. The frame is built once for all sockets. */
function createDelivery({ audience, text, mayDrop, exceptConnection }: Hint): Delivery {
  const reachesEveryone = 'everyone' in audience
  return {
    frame: prepareFrame(text),
    reachesEveryone,
    includesMembers: !reachesEveryone && audience.members,
    roles: reachesEveryone ? [] : audience.roles,
    users: new Set(reachesEveryone ? [] : audience.users),
    mayDrop,
    excludedConnection: exceptConnection,
  }
}

/** Manages the subscriptions to the channels of tenants that have sockets in this process. */
function createSubscriptions(channels: Channels, lingerMs: number) {
  const subscriptions = new Map<string, Promise<boolean>>()
  const leaveTimers = new Map<string, NodeJS.Timeout>()
  const leave = (tenantId: string): void => {
    leaveTimers.delete(tenantId)
    subscriptions.delete(tenantId)
    channels.unsubscribe(tenantId)
  }
  return {
    addTenant: (tenantId: string): void => {
      clearTimeout(leaveTimers.get(tenantId))
      leaveTimers.delete(tenantId)
      if (!subscriptions.has(tenantId)) subscriptions.set(tenantId, channels.subscribe(tenantId))
    },
    removeTenant: (tenantId: string): void =>
      void leaveTimers.set(tenantId, setTimeout(leave, lingerMs, tenantId).unref()),
    stop: (): void => {
      for (const timer of leaveTimers.values()) clearTimeout(timer)
    },
    waitUntilSubscribed: (tenantId: string): Promise<unknown> =>
      subscriptions.get(tenantId) ?? Promise.resolve(false),
  }
}
