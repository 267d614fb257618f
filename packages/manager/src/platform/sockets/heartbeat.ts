// Pings for all sockets by one timer. Sockets are in slots by the moment they came; at each tick one slot is pinged, and the
// slot that was pinged a grace period ago is looked through for pongs that did not come.
import { prepareFrame } from './frames.ts'
import { type LiveSocket, closeCodes } from './live-socket.ts'

export type HeartbeatOptions = {
  pingEveryMs: number
  /** How long a pong may take; shorter than the time between pings. */
  pongWithinMs: number
  /** How long a socket may be over its limit of unsent bytes. */
  slowMs: number
  maxUnsentBytes: number
}

const slotCount = 25
const ping = prepareFrame('{"type":"ping"}')

export function createHeartbeat(options: HeartbeatOptions) {
  const slots = Array.from({ length: slotCount }, () => new Set<LiveSocket>())
  const slotAt = (tick: number) => slots[(tick + slotCount) % slotCount] as Set<LiveSocket>
  const tickMs = options.pingEveryMs / slotCount
  const graceTicks = Math.ceil(options.pongWithinMs / tickMs)
  if (graceTicks >= slotCount) throw new Error('a pong must come before the next ping is due')
  // Sockets that are over their limit, and since when.
  const slow = new Map<LiveSocket, number>()
  let tick = 0
  let timer: NodeJS.Timeout | undefined
  const endSlow = (now: number): void => {
    for (const [socket, since] of slow) {
      if (socket.unsentBytes <= options.maxUnsentBytes) slow.delete(socket)
      else if (now - since > options.slowMs) socket.end(closeCodes.slow)
    }
  }
  const beat = (): void => {
    tick = (tick + 1) % slotCount
    const now = performance.now()
    for (const socket of slotAt(tick)) pingOne(socket, now)
    endSlow(now)
    // After what has arrived is read: a process that stood still must not take its own pause for theirs.
    setImmediate(endSilent, slotAt(tick - graceTicks))
  }
  return {
    slots,
    /** The socket is pinged from now on. */
    add: (socket: LiveSocket): void => {
      timer ??= setInterval(beat, tickMs).unref()
      socket.slot = slotAt(tick)
      socket.slot.add(socket)
    },
    delete: (socket: LiveSocket): void => {
      socket.slot?.delete(socket)
      slow.delete(socket)
    },
    noteSlow: (socket: LiveSocket): void => {
      if (!slow.has(socket)) slow.set(socket, performance.now())
    },
    close: (): void => clearInterval(timer),
  }
}

function pingOne(socket: LiveSocket, now: number): void {
  if (now > socket.expiresAt) socket.end(closeCodes.again)
  else if (socket.deliver(ping, true)) socket.isPongDue = true
}

function endSilent(slot: ReadonlySet<LiveSocket>): void {
  for (const socket of slot) if (socket.isPongDue) socket.end(closeCodes.silent)
}
