// Pings all sockets with one timer. Sockets are assigned to slots by connection time. Each tick pings one slot, and
// closes the unresponsive sockets of the slot that was pinged one grace period earlier.
import { prepareFrame } from './frames.ts'
import { type LiveSocket, closeCodes } from './live-socket.ts'

/** Intervals and limits of the heartbeat. */
export type HeartbeatOptions = {
  pingEveryMs: number
  /** Timeout for a pong; must be shorter than the ping interval. */
  pongWithinMs: number
  /** How long a socket may exceed its limit of unsent bytes. */
  slowMs: number
  maxUnsentBytes: number
}

const slotCount = 25
const pingFrame = prepareFrame('{"type":"ping"}')

/** Throws if the pong timeout is not shorter than the ping interval. */
export function createHeartbeat(options: HeartbeatOptions) {
  const slots = Array.from({ length: slotCount }, () => new Set<LiveSocket>())
  const getSlot = (tick: number) => slots[(tick + slotCount) % slotCount] as Set<LiveSocket>
  const tickMs = options.pingEveryMs / slotCount
  const graceTicks = Math.ceil(options.pongWithinMs / tickMs)
  if (graceTicks >= slotCount) throw new Error('the pong timeout must be shorter than the ping interval')
  // Sockets that exceed their limit of unsent bytes, with the time at which they first exceeded it.
  const slowSockets = new Map<LiveSocket, number>()
  let tick = 0
  let timer: NodeJS.Timeout | undefined
  const closeSlow = (now: number): void => {
    for (const [socket, slowSince] of slowSockets) {
      if (socket.unsentBytes <= options.maxUnsentBytes) slowSockets.delete(socket)
      else if (now - slowSince > options.slowMs) socket.end(closeCodes.slow)
    }
  }
  const runTick = (): void => {
    tick = (tick + 1) % slotCount
    const now = performance.now()
    for (const socket of getSlot(tick)) pingOne(socket, now)
    closeSlow(now)
    // Pongs that have arrived are read first: a paused process must not mistake its own pause for silent clients.
    setImmediate(closeUnresponsive, getSlot(tick - graceTicks))
  }
  return {
    slots,
    /** Starts to ping the socket. */
    add: (socket: LiveSocket): void => {
      timer ??= setInterval(runTick, tickMs).unref()
      socket.slot = getSlot(tick)
      socket.slot.add(socket)
    },
    delete: (socket: LiveSocket): void => {
      socket.slot?.delete(socket)
      slowSockets.delete(socket)
    },
    markSlow: (socket: LiveSocket): void => {
      if (!slowSockets.has(socket)) slowSockets.set(socket, performance.now())
    },
    close: (): void => clearInterval(timer),
  }
}

function pingOne(socket: LiveSocket, now: number): void {
  if (now > socket.expiresAt) socket.end(closeCodes.again)
  else if (socket.deliver(pingFrame, true)) socket.isPongDue = true
}

function closeUnresponsive(slot: ReadonlySet<LiveSocket>): void {
  for (const socket of slot) if (socket.isPongDue) socket.end(closeCodes.silent)
}
