// One WebSocket. A process may have 10,000 of them, so each has minimal state: no request, no closures, no timer.
import type { Socket } from 'node:net'
import { type RawData, WebSocket } from 'ws'
import type { Frame } from './frames.ts'

/** Reasons for closing a socket. Clients reconnect after codes up to 4499, but not after codes from 4500. */
export const closeCodes = {
  /** The process is shutting down, or the socket has reached its maximum age. */
  again: 4000,
  slow: 4001,
  silent: 4002,
  refused: 4500,
  tooMany: 4501,
  protocol: 4502,
} as const
/** A code that this side sends when it closes a socket. */
export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes]

const reasonsByCode: Record<CloseCode, string> = {
  4000: 'reconnect',
  4001: 'client too slow',
  4002: 'no pong',
  4500: 'no access',
  4501: 'too many sockets',
  4502: 'protocol error',
}

/** The limit and the callbacks that all sockets of a process share. */
export type SocketHost = {
  /** Maximum number of unsent bytes per socket. */
  maxUnsentBytes: number
  /** Called if a frame is dropped because the client reads too slowly. */
  onDropped(socket: LiveSocket): void
  onClosed(socket: LiveSocket): void
}

// Close codes of the library for frames that violate the protocol.
const protocolErrors: ReadonlySet<number | undefined> = new Set([1002, 1003, 1007, 1008, 1009])
const [receivedPerSecond, receivedBurst] = [5, 10]
const pongMessage = '{"type":"pong"}'

/** A socket that drops frames for slow clients and closes if the client sends too much. */
export class LiveSocket extends WebSocket {
  /** The owner of the socket; only the code that sets it interprets it. */
  owner: unknown = null
  /** Called once when the socket ends, whichever side closes it. */
  onEnded: ((socket: LiveSocket) => void) | null = null
  /** The close code if this side closed the socket. */
  closedWith: CloseCode | null = null
  /** True while a pong is outstanding. */
  isPongDue = false
  /** The time at which the socket reaches its maximum age, by performance.now(). */
  expiresAt = Infinity
  /** The sockets that are pinged together with this one. */
  slot: Set<LiveSocket> | null = null
  #raw: Socket | null = null
  #socketHost: SocketHost | null = null
  #tokens = receivedBurst
  #tokensAt = 0

  /** Initializes the socket; must be called once. */
  initialize(rawSocket: Socket, socketHost: SocketHost): void {
    this.#raw = rawSocket
    this.#socketHost = socketHost
    this.#tokensAt = performance.now()
    this.on('message', onMessage)
    this.on('ping', onControl)
    this.on('pong', onControl)
    this.on('close', onClose)
    // The library closes the socket with a code for the error, so no further action is needed.
    this.on('error', ignoreError)
  }

  get unsentBytes(): number {
    return this.#raw?.writableLength ?? 0
  }

  /**
   * Sends a frame; returns false if it was dropped. If the client reads too slowly, a frame that must not be dropped
   * closes the socket.
   */
  deliver(frame: Frame, mayDrop: boolean): boolean {
    const rawSocket = this.#raw
    if (rawSocket === null || this.readyState !== WebSocket.OPEN) return false
    if (rawSocket.writableLength > (this.#socketHost as SocketHost).maxUnsentBytes) return this.#drop(mayDrop)
    rawSocket.write(frame)
    return true
  }

  #drop(mayDrop: boolean): false {
    if (mayDrop) this.#socketHost?.onDropped(this)
    else this.end(closeCodes.slow)
    return false
  }

  /** Closes the socket; a client that does not respond is disconnected after the close timeout. */
  end(code: CloseCode): void {
    if (this.readyState === WebSocket.OPEN) this.closedWith ??= code
    super.close(code, reasonsByCode[code])
    this.#notifyEnded()
  }

  /** The library also calls this method: for frames that violate the protocol, and to confirm a close by the client. */
  override close(code?: number, reason?: string | Buffer): void {
    if (protocolErrors.has(code)) this.end(closeCodes.protocol)
    else super.close(code, reason)
  }

  /** Counts a received message; closes the socket and returns false if the client exceeds its rate limit. */
  consumeReceiveToken(): boolean {
    if (this.readyState !== WebSocket.OPEN) return false
    const now = performance.now()
    const earnedTokens = ((now - this.#tokensAt) / 1_000) * receivedPerSecond
    this.#tokens = Math.min(receivedBurst, this.#tokens + earnedTokens) - 1
    this.#tokensAt = now
    if (this.#tokens >= 0) return true
    this.end(closeCodes.protocol)
    return false
  }

  handleClosed(): void {
    this.#notifyEnded()
    this.#socketHost?.onClosed(this)
    this.#socketHost = null
    this.#raw = null
  }

  #notifyEnded(): void {
    const { onEnded } = this
    this.onEnded = null
    onEnded?.(this)
  }
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  const socket = this as LiveSocket
  if (!socket.consumeReceiveToken()) return
  if (isBinary || !isPong((data as Buffer).toString())) socket.end(closeCodes.protocol)
  else socket.isPongDue = false
}

function isPong(message: string): boolean {
  if (message === pongMessage) return true
  try {
    return (JSON.parse(message) as { type?: unknown } | null)?.type === 'pong'
  } catch {
    return false
  }
}

function onControl(this: WebSocket): void {
  ;(this as LiveSocket).consumeReceiveToken()
}

function onClose(this: WebSocket): void {
  ;(this as LiveSocket).handleClosed()
}

function ignoreError(): void {
  // The library has already closed the socket with a code for the error (see `initialize`).
}
