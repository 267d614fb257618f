// Sends hints to the sockets of this process and, through channels, to those of other processes. A process subscribes
// only to the channels of tenants that have sockets in it.
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
   * How long a subscription is kept after the last socket of a tenant closes. Otherwise, page reloads would
   * resubscribe.
   */
  lingerMs?: number
}

export type Hub = {
  send: SendHint
  rooms: Rooms
  /** Adds a socket to its room before its access is verified. Returns null if the user has too many sockets. */
  enter(this: void, request: JoinRequest): Member | null
  /** Resolves when the tenant channel is subscribed or the subscription failed. */
  listening(this: void, tenantId: string): Promise<unknown>
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

export function createHub({ channels: create, clock, metrics, lingerMs = 10_000 }: HubDeps): Hub {
  const { deliver, release } = createFanOut(metrics.fanOut)
  const receive = (tenantId: string, message: string): void => {
    const decoded = decodeHint(message)
    if (decoded === null) return
    metrics.pubsubLag.observe(Math.max(0, clock.now().getTime() - decoded.sentAt) / 1_000)
    sendLocal({ tenantId, ...decoded.hint })
  }
  const channels = create === null ? noChannels : create(receive, (count) => metrics.hintsLost.inc(count))
  const { joined, left, listening, stop } = createListening(channels, lingerMs)
  const rooms = createRooms({ onTenantJoined: joined, onTenantLeft: left })
  const sendLocal = (hint: Hint): void => {
    const room = rooms.find(hint.tenantId, hint.applicationId)
    if (room !== undefined) deliver(room, deliveryOf(hint))
  }
  const publish = ({ tenantId, ...hint }: Hint): boolean => {
    const message = encodeHint({ sentAt: clock.now().getTime(), hint })
    return message.length <= maxMessageLength && channels.publish(tenantId, message)
  }
  return {
    rooms,
    enter: rooms.enter,
    listening,
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

/** Builds the frame once for all sockets. */
function deliveryOf({ audience, text, mayDrop, exceptConnection }: Hint): Delivery {
  const everyone = 'everyone' in audience
  return {
    frame: prepareFrame(text),
    everyone,
    members: !everyone && audience.members,
    roles: everyone ? [] : audience.roles,
    users: new Set(everyone ? [] : audience.users),
    mayDrop,
    except: exceptConnection,
  }
}

/** Manages the subscriptions to the channels of tenants that have sockets in this process. */
function createListening(channels: Channels, lingerMs: number) {
  const subscribed = new Map<string, Promise<boolean>>()
  const leaving = new Map<string, NodeJS.Timeout>()
  const leave = (tenantId: string): void => {
    leaving.delete(tenantId)
    subscribed.delete(tenantId)
    channels.unsubscribe(tenantId)
  }
  return {
    joined: (tenantId: string): void => {
      clearTimeout(leaving.get(tenantId))
      leaving.delete(tenantId)
      if (!subscribed.has(tenantId)) subscribed.set(tenantId, channels.subscribe(tenantId))
    },
    left: (tenantId: string): void =>
      void leaving.set(tenantId, setTimeout(leave, lingerMs, tenantId).unref()),
    stop: (): void => {
      for (const timer of leaving.values()) clearTimeout(timer)
    },
    listening: (tenantId: string): Promise<unknown> => subscribed.get(tenantId) ?? Promise.resolve(false),
  }
}
