// Hints to the sockets of this process, and through channels to those of the others. A process listens to the channels of
// the tenants it holds sockets for.
import type { Clock } from '../../platform/clock.ts'
import type { Channels, CreateChannels } from '../../platform/redis/channels.ts'
import { prepareFrame } from '../../platform/sockets/frames.ts'
import type { SocketMetrics } from './sockets.metrics.ts'
import { createFanOut } from './fan-out.service.ts'
import { decodeHint, encodeHint, maxMessageLength } from './hint-message.pure.ts'
import type { Hint, SendHint } from './hints.pure.ts'
import { type Delivery, type Member, type Newcomer, type Rooms, createRooms } from './rooms.service.ts'

export type HubDeps = {
  /** Null in a process that holds no sockets and sends no hints. */
  channels: CreateChannels | null
  clock: Clock
  metrics: SocketMetrics
  /** How long a channel is kept after the last socket of its tenant: people reload pages. */
  lingerMs?: number
}

export type Hub = {
  send: SendHint
  rooms: Rooms
  /** Lets a socket in, for now without knowing whether it may be there; null when the user has too many. */
  enter(this: void, newcomer: Newcomer): Member | null
  /** Resolves once hints of other processes reach the tenant's sockets, or cannot for now. */
  listening(this: void, tenantId: string): Promise<unknown>
  /** Sends what was held for a member, and from now on everything as it comes. */
  release(this: void, member: Member): void
  close(this: void): Promise<void>
}

const nowhere: Channels = {
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
    sendHere({ tenantId, ...decoded.hint })
  }
  const channels = create === null ? nowhere : create(receive, (count) => metrics.hintsLost.inc(count))
  const { came, left, listening, stop } = createListening(channels, lingerMs)
  const rooms = createRooms({ onTenantCame: came, onTenantLeft: left })
  const sendHere = (hint: Hint): void => {
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
      sendHere(hint)
      if (!publish(hint)) metrics.hintsLost.inc()
    },
    close: () => {
      stop()
      return channels.close()
    },
  }
}

/** The frame is built here, once for all sockets. */
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

/** Keeps the channels of the tenants that have sockets here. */
function createListening(channels: Channels, lingerMs: number) {
  const subscribed = new Map<string, Promise<boolean>>()
  const leaving = new Map<string, NodeJS.Timeout>()
  const leave = (tenantId: string): void => {
    leaving.delete(tenantId)
    subscribed.delete(tenantId)
    channels.unsubscribe(tenantId)
  }
  return {
    came: (tenantId: string): void => {
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
