// The WebSockets of this process: accepts them, limits their number and closes them. This code does not know the
// messages or their recipients.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer } from 'ws'
import { badRequest, forbidden, unavailable } from '../errors.ts'
import { isUpgrade, takeConnection } from '../http/upgrades.ts'
import { createHeartbeat } from './heartbeat.ts'
import { type CloseCode, LiveSocket, type SocketHost, closeCodes } from './live-socket.ts'
import { isSameHost } from '../http/origin.ts'

/** Limits, timeouts and callbacks for metrics. */
export type SocketsOptions = {
  /** Maximum number of open sockets. */
  max: number
  pingEveryMs: number
  pongWithinMs: number
  /** Maximum age of a socket; it varies randomly by up to 10 %. */
  maxAgeMs: number
  /** Maximum number of unsent bytes per socket; 1 MiB by default. */
  maxUnsentBytes?: number
  /** How long a socket may exceed the limit of unsent bytes; 5 s by default. */
  slowMs?: number
  /** Timeout for the client to confirm a close; 2 s by default. */
  closeTimeoutMs?: number
  onRefused(): void
  onDropped(): void
  /** `code` is null if the client closed the socket. */
  onClosed(code: CloseCode | null): void
}

/** The open sockets of this process. */
export type Sockets = {
  readonly size: number
  /** Upgrades the request to a socket, or throws the error response. Returns null if the client has disconnected. */
  accept(this: void, request: FastifyRequest, reply: FastifyReply): LiveSocket | null
  /** Closes all sockets within the close timeout, and refuses new ones from now on. */
  drain(this: void): Promise<void>
}

const mebibyte = 1_048_576
const defaults = { maxUnsentBytes: mebibyte, slowMs: 5_000, closeTimeoutMs: 2_000 }
const closeBatchSize = 1_000
const keyPattern = /^[+/0-9A-Za-z]{22}==$/

/** Accepts sockets until `drain` is called. */
export function createSockets(overrides: SocketsOptions): Sockets {
  const options = { ...defaults, ...overrides }
  const heartbeat = createHeartbeat(options)
  const protocolServer = createProtocolServer(options.closeTimeoutMs)
  let size = 0
  let isDraining = false
  let onEmpty: (() => void) | null = null
  const socketHost: SocketHost = {
    maxUnsentBytes: options.maxUnsentBytes,
    onDropped: (socket) => {
      heartbeat.markSlow(socket)
      options.onDropped()
    },
    onClosed: (socket) => {
      heartbeat.delete(socket)
      size--
      options.onClosed(socket.closedWith)
      if (size === 0) onEmpty?.()
    },
  }
  const register = (socket: LiveSocket): void => {
    size++
    socket.expiresAt = performance.now() + options.maxAgeMs * (0.9 + 0.2 * Math.random())
    heartbeat.add(socket)
  }
  const terminateRest = (): void => {
    for (const slot of heartbeat.slots) for (const socket of slot) socket.terminate()
  }
  return {
    get size() {
      return size
    },
    accept: (request, reply) => {
      checkHandshake(request, reply)
      if (isDraining) throw unavailable('the service is shutting down; reconnect')
      if (size >= options.max) {
        options.onRefused()
        throw unavailable('too many websockets are open; reconnect later')
      }
      const socket = takeSocket(protocolServer, socketHost, request, reply)
      if (socket !== null) register(socket)
      return socket
    },
    drain: async () => {
      isDraining = true
      heartbeat.close()
      const allClosed = new Promise<void>((resolve) => (onEmpty = resolve))
      if (size === 0) return
      const terminateTimer = setTimeout(terminateRest, options.closeTimeoutMs)
      await closeAll(heartbeat.slots)
      await allClosed
      clearTimeout(terminateTimer)
    },
  }
}

/** Closes the sockets in batches, so that responses from clients are handled between batches. */
async function closeAll(slots: readonly ReadonlySet<LiveSocket>[]): Promise<void> {
  let closedCount = 0
  for (const slot of slots)
    for (const socket of slot) {
      socket.end(closeCodes.again)
      if (++closedCount % closeBatchSize === 0) await new Promise((resolve) => setImmediate(resolve))
    }
}

/** Implements the WebSocket protocol. The limits are low, because clients send only short messages. */
function createProtocolServer(closeTimeout: number) {
  const options = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: 4_096,
    maxFragments: 16,
    maxBufferedChunks: 64,
    closeTimeout,
    WebSocket: LiveSocket,
  }
  return new WebSocketServer(options)
}
type ProtocolServer = ReturnType<typeof createProtocolServer>

function checkHandshake(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  const { 'sec-websocket-key': key, 'sec-websocket-version': version } = raw.headers
  if (!isUpgrade(request))
    throw badRequest(
      'not a websocket handshake: send GET without a body, with Connection: Upgrade and Upgrade: websocket',
    )
  if (version !== '13') {
    void reply.header('sec-websocket-version', '13')
    throw badRequest('Sec-WebSocket-Version must be 13')
  }
  if (key === undefined || !keyPattern.test(key))
    throw badRequest('Sec-WebSocket-Key must be the base64 of 16 bytes, sent once')
  if (!isSameHost(raw, request.isFromProxy))
    throw forbidden('cross-origin request rejected: Origin must match the host that the proxy forwards')
}

/** Returns null if the client has already disconnected. */
function takeSocket(
  protocolServer: ProtocolServer,
  socketHost: SocketHost,
  request: FastifyRequest,
  reply: FastifyReply,
): LiveSocket | null {
  let acceptedSocket: LiveSocket | null = null
  // No subprotocol is supported.
  delete request.raw.headers['sec-websocket-protocol']
  takeConnection(request, reply, ({ socket, head }) => {
    protocolServer.handleUpgrade(request.raw, socket, head, (newSocket) => {
      newSocket.initialize(socket, socketHost)
      acceptedSocket = newSocket
    })
  })
  return acceptedSocket
}
