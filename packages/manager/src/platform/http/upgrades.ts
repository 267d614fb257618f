// Handles connections that leave HTTP. An upgrade request is treated like any other until its route upgrades the
// connection: it has an id and passes the gate and the policy. A rejection is an ordinary response, after which the
// connection is closed.
import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route upgrades connections. All other routes ignore the upgrade header. */
    acceptsUpgrade?: true
  }
}

/** A connection that no route has upgraded yet. */
type PendingUpgrade = { socket: Socket; head: Buffer; response: ServerResponse }
/** A connection that a route has upgraded, and the bytes already read from it. */
export type TakenConnection = { socket: Socket; head: Buffer }

/** HTTP status of an upgraded connection. */
export const switchingProtocols = 101
// A rejected client has this long to read the response.
const lingerMs = 2_000
const pendingUpgrades = new WeakMap<IncomingMessage, PendingUpgrade>()

/** Detects upgrade requests, and serves them with the same handlers as all other requests. */
export function createUpgrades() {
  // Route segments; null matches any one segment.
  const routes: (string | null)[][] = []
  return {
    /** Registers a route that upgrades connections. */
    add: (url: string): void => {
      routes.push(url.split('/').map((segment) => (segment.startsWith(':') ? null : segment)))
    },
    /** Node calls this function before it hands over the connection of an upgrade request. */
    shouldUpgrade: (request: IncomingMessage): boolean =>
      isHandshake(request) && routes.some((route) => matchesRoute(route, request.url ?? '')),
    serve: (server: Server): void => void server.on('upgrade', serveUpgrade),
  }
}

function matchesRoute(route: readonly (string | null)[], url: string): boolean {
  const [path = ''] = url.split('?', 1)
  const segments = path.split('/')
  return (
    segments.length === route.length &&
    route.every((expectedSegment, index) =>
      expectedSegment === null ? segments[index] !== '' : segments[index] === expectedSegment,
    )
  )
}

/**
 * A request stays in HTTP if it has a body, or if the response to an earlier request has not been sent yet.
 * In both cases, the connection still carries bytes that are not frames.
 */
function isHandshake({ method, httpVersion, headers, socket }: IncomingMessage): boolean {
  const { _httpMessage: unsentResponse } = socket as { _httpMessage?: ServerResponse | null }
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  const isWebsocket = headers.upgrade?.toLowerCase() === 'websocket'
  return (
    method === 'GET' && httpVersion === '1.1' && isWebsocket && !hasBody && (unsentResponse ?? null) === null
  )
}

function serveUpgrade(this: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  // Node has removed its own error listener, and an error without a listener would crash the process.
  socket.on('error', destroy)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    // The request ends here, like every other request, even though its connection stays open.
    response.detachSocket(socket)
    process.nextTick(() => response.emit('close'))
    // Unread data would turn the close into a reset, and the caller would lose the response.
    socket.resume()
    socket.end()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
  pendingUpgrades.set(request, { socket, head, response })
  this.emit('request', request, response)
}

function destroy(this: Socket): void {
  this.destroy()
}

/**
 * Passes the connection of a request to `use`, with the bytes already read; throws if the request is not an upgrade.
 * `use` must write the response itself. The request then ends, and none of its state is kept.
 */
export function takeConnection(
  request: FastifyRequest,
  reply: FastifyReply,
  use: (takenConnection: TakenConnection) => void,
): void {
  const pendingUpgrade = pendingUpgrades.get(request.raw)
  if (pendingUpgrade === undefined) throw new Error('the request is not an upgrade request')
  const { socket, head, response } = pendingUpgrade
  pendingUpgrades.delete(request.raw)
  reply.hijack()
  response.removeAllListeners('finish')
  response.statusCode = switchingProtocols
  response.detachSocket(socket)
  socket.off('error', destroy)
  use({ socket, head })
  response.emit('close')
}

/** Whether the route can upgrade the connection of this request. */
export const isUpgrade = (request: FastifyRequest): boolean => pendingUpgrades.has(request.raw)
