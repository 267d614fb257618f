// One socket. There may be ten thousand of them, so it holds next to nothing: no request, no closures, no timer.
import type { Socket } from 'node:net'
import { type RawData, WebSocket } from 'ws'
import type { Frame } from './frames.ts'

/** Why a socket ends. Up to 4499 the client comes back after a while, from 4500 on it does not. */
export const closeCodes = {
  /** The process ends, or the socket is old. */
  again: 4000,
  slow: 4001,
  silent: 4002,
  refused: 4500,
  tooMany: 4501,
  protocol: 4502,
} as const
export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes]

const reasons: Record<CloseCode, string> = {
  4000: 'connect again',
  4001: 'too slow',
  4002: 'no pong',
  4500: 'no access',
  4501: 'too many sockets',
  4502: 'protocol error',
}

/** What all sockets of a process share. */
export type Keeper = {
  /** Bytes that may wait to be sent on one socket. */
  maxUnsentBytes: number
  /** A frame was left out because the socket does not keep up. */
  onDropped(socket: LiveSocket): void
  onClosed(socket: LiveSocket): void
}

// What the library itself says about frames that break the protocol.
const protocolErrors: ReadonlySet<number | undefined> = new Set([1002, 1003, 1007, 1008, 1009])
const [receivedPerSecond, receivedBurst] = [5, 10]
const pong = '{"type":"pong"}'

export class LiveSocket extends WebSocket {
  /** Whose the socket is; whoever holds it says what that means. */
  owner: unknown = null
  /** Called once with the socket when it ends, whoever ends it. */
  onEnded: ((socket: LiveSocket) => void) | null = null
  /** The code it was closed with from this side. */
  endedBy: CloseCode | null = null
  /** A ping was sent, and its pong has not come. */
  isPongDue = false
  /** When it has lived long enough, by performance.now(). */
  expiresAt = Infinity
  /** Those that are pinged together with it. */
  slot: Set<LiveSocket> | null = null
  #raw: Socket | null = null
  #keeper: Keeper | null = null
  #tokens = receivedBurst
  #tokensAt = 0

  /** Makes it usable, once. */
  begin(raw: Socket, keeper: Keeper): void {
    this.#raw = raw
    this.#keeper = keeper
    this.#tokensAt = performance.now()
    this.on('message', onMessage)
    this.on('ping', onControl)
    this.on('pong', onControl)
    this.on('close', onClose)
    // It is closed with what went wrong; there is nothing to add.
    this.on('error', ignore)
  }

  get unsentBytes(): number {
    return this.#raw?.writableLength ?? 0
  }

  /**
   * Sends a frame; false when it was left out. One that may not be left out closes a socket that does not keep up.
   */
  deliver(frame: Frame, mayDrop: boolean): boolean {
    const raw = this.#raw
    if (raw === null || this.readyState !== WebSocket.OPEN) return false
    if (raw.writableLength > (this.#keeper as Keeper).maxUnsentBytes) return this.#leaveOut(mayDrop)
    raw.write(frame)
    return true
  }

  #leaveOut(mayDrop: boolean): false {
    if (mayDrop) this.#keeper?.onDropped(this)
    else this.end(closeCodes.slow)
    return false
  }

  /** Closes it; a peer that does not answer is cut off after the close timeout. */
  end(code: CloseCode): void {
    if (this.readyState === WebSocket.OPEN) this.endedBy ??= code
    super.close(code, reasons[code])
    this.#noteEnd()
  }

  /** Called by the library too: for frames that break the protocol, and to answer the peer's own close. */
  override close(code?: number, reason?: string | Buffer): void {
    if (protocolErrors.has(code)) this.end(closeCodes.protocol)
    else super.close(code, reason)
  }

  /** Takes one of what the peer may send; false when there is none, which ends it. */
  takeReceived(): boolean {
    if (this.readyState !== WebSocket.OPEN) return false
    const now = performance.now()
    const earned = ((now - this.#tokensAt) / 1_000) * receivedPerSecond
    this.#tokens = Math.min(receivedBurst, this.#tokens + earned) - 1
    this.#tokensAt = now
    if (this.#tokens >= 0) return true
    this.end(closeCodes.protocol)
    return false
  }

  noteClosed(): void {
    this.#noteEnd()
    this.#keeper?.onClosed(this)
    this.#keeper = null
    this.#raw = null
  }

  #noteEnd(): void {
    const { onEnded } = this
    this.onEnded = null
    onEnded?.(this)
  }
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  const socket = this as LiveSocket
  if (!socket.takeReceived()) return
  if (isBinary || !isPong((data as Buffer).toString())) socket.end(closeCodes.protocol)
  else socket.isPongDue = false
}

function isPong(message: string): boolean {
  if (message === pong) return true
  try {
    return (JSON.parse(message) as { type?: unknown } | null)?.type === 'pong'
  } catch {
    return false
  }
}

function onControl(this: WebSocket): void {
  ;(this as LiveSocket).takeReceived()
}

function onClose(this: WebSocket): void {
  ;(this as LiveSocket).noteClosed()
}

function ignore(): void {
  // See begin().
}
