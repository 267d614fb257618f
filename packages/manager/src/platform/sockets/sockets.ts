// The sockets of this process: how a request becomes one, how many there may be, and how they end. What is said on them, and
// to whom, is not known here.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer } from 'ws'
import { badRequest, forbidden, unavailable } from '../errors.ts'
import { isOffered, takeConnection } from '../http/upgrades.ts'
import { createHeartbeat } from './heartbeat.ts'
import { type CloseCode, type Keeper, LiveSocket, closeCodes } from './live-socket.ts'
import { isOfOwnHost } from '../http/origin.ts'

export type SocketsOptions = {
  /** Sockets at once. */
  max: number
  pingEveryMs: number
  pongWithinMs: number
  /** How long a socket lives, give or take a tenth. */
  maxAgeMs: number
  /** Bytes that may wait to be sent on one socket; 1 MiB by default. */
  maxUnsentBytes?: number
  /** How long a socket may be over that; five seconds by default. */
  slowMs?: number
  /** How long the other side may take to answer a close; two seconds by default. */
  closeTimeoutMs?: number
  onRefused(): void
  onDropped(): void
  /** Null for a socket that the other side has ended. */
  onClosed(code: CloseCode | null): void
}

export type Sockets = {
  readonly size: number
  /** Makes a socket of the request; throws what it is answered with if it cannot be one. */
  accept(this: void, request: FastifyRequest, reply: FastifyReply): LiveSocket | null
  /** Ends all sockets, within the close timeout; requests for more are refused from now on. */
  drain(this: void): Promise<void>
}

const mebibyte = 1_048_576
const defaults = { maxUnsentBytes: mebibyte, slowMs: 5_000, closeTimeoutMs: 2_000 }
const endedAtOnce = 1_000
const keyForm = /^[+/0-9A-Za-z]{22}==$/

export function createSockets(given: SocketsOptions): Sockets {
  const options = { ...defaults, ...given }
  const heartbeat = createHeartbeat(options)
  const library = createLibrary(options.closeTimeoutMs)
  let size = 0
  let isDraining = false
  let onEmpty: (() => void) | null = null
  const keeper: Keeper = {
    maxUnsentBytes: options.maxUnsentBytes,
    onDropped: (socket) => {
      heartbeat.noteSlow(socket)
      options.onDropped()
    },
    onClosed: (socket) => {
      heartbeat.delete(socket)
      size--
      options.onClosed(socket.endedBy)
      if (size === 0) onEmpty?.()
    },
  }
  const begin = (socket: LiveSocket): void => {
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
      if (isDraining) throw unavailable('the service is about to end; connect again')
      if (size >= options.max) {
        options.onRefused()
        throw unavailable('the service holds as many websockets as it can; connect again later')
      }
      const socket = takeSocket(library, keeper, request, reply)
      if (socket !== null) begin(socket)
      return socket
    },
    drain: async () => {
      isDraining = true
      heartbeat.close()
      const empty = new Promise<void>((resolve) => (onEmpty = resolve))
      if (size === 0) return
      const overdue = setTimeout(terminateRest, options.closeTimeoutMs)
      await endAll(heartbeat.slots)
      await empty
      clearTimeout(overdue)
    },
  }
}

/** Ends them in parts, so that those who have been told may answer meanwhile. */
async function endAll(slots: readonly ReadonlySet<LiveSocket>[]): Promise<void> {
  let ended = 0
  for (const slot of slots)
    for (const socket of slot) {
      socket.end(closeCodes.again)
      if (++ended % endedAtOnce === 0) await new Promise((resolve) => setImmediate(resolve))
    }
}

/** The protocol itself; what clients send is one short text. */
function createLibrary(closeTimeout: number) {
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
type Library = ReturnType<typeof createLibrary>

function checkHandshake(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  const { 'sec-websocket-key': key, 'sec-websocket-version': version } = raw.headers
  if (!isOffered(request))
    throw badRequest(
      'open a websocket here: GET without a body, with Connection: Upgrade and Upgrade: websocket',
    )
  if (version !== '13') {
    void reply.header('sec-websocket-version', '13')
    throw badRequest('Sec-WebSocket-Version must be 13')
  }
  if (key === undefined || !keyForm.test(key))
    throw badRequest('Sec-WebSocket-Key must be the base64 of 16 bytes, sent once')
  if (!isOfOwnHost(raw, request.isFromProxy))
    throw forbidden('the page is of another host: Origin must name the host that the proxy forwards')
}

/** Null when the other side is gone already. */
function takeSocket(
  library: Library,
  keeper: Keeper,
  request: FastifyRequest,
  reply: FastifyReply,
): LiveSocket | null {
  let taken: LiveSocket | null = null
  // We speak none.
  delete request.raw.headers['sec-websocket-protocol']
  takeConnection(request, reply, ({ socket, head }) => {
    library.handleUpgrade(request.raw, socket, head, (opened) => {
      opened.begin(socket, keeper)
      taken = opened
    })
  })
  return taken
}
