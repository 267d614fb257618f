// Connections that leave HTTP. A request to upgrade is a request like every other until its route has taken the connection:
// it has an id, passes the gate and the policy, and is refused by an ordinary response, after which the connection ends.
import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes connections over. On all others a request to upgrade is answered as if it did not ask. */
    upgrades?: true
  }
}

/** A connection that is nobody's yet. */
type Offered = { socket: Socket; head: Buffer; response: ServerResponse }
export type Taken = { socket: Socket; head: Buffer }

/** The status of a connection that was handed over. */
export const switched = 101
// A client that was refused has this long to read why.
const lingerMs = 2_000
const offers = new WeakMap<IncomingMessage, Offered>()

/** Finds the requests that ask for an upgrade, and serves them by the same handlers as all others. */
export function createUpgrades() {
  // Segments of the routes; null stands for any one segment.
  const routes: (string | null)[][] = []
  return {
    /** Notes a route that takes connections over. */
    add: (url: string): void => {
      routes.push(url.split('/').map((segment) => (segment.startsWith(':') ? null : segment)))
    },
    /** What Node asks before it lets a connection leave HTTP. */
    isWanted: (request: IncomingMessage): boolean =>
      isHandshake(request) && routes.some((route) => matches(route, request.url ?? '')),
    serve: (server: Server): void => void server.on('upgrade', serveUpgrade),
  }
}

function matches(route: readonly (string | null)[], url: string): boolean {
  const [path = ''] = url.split('?', 1)
  const segments = path.split('/')
  return (
    segments.length === route.length &&
    route.every((wanted, index) => (wanted === null ? segments[index] !== '' : segments[index] === wanted))
  )
}

/**
 * A request with a body, or one that follows another whose response is not sent yet, stays in HTTP: its connection still
 * has bytes that are no frames.
 */
function isHandshake({ method, httpVersion, headers, socket }: IncomingMessage): boolean {
  const { _httpMessage: unsent } = socket as { _httpMessage?: ServerResponse | null }
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  const isWebsocket = headers.upgrade?.toLowerCase() === 'websocket'
  return method === 'GET' && httpVersion === '1.1' && isWebsocket && !hasBody && (unsent ?? null) === null
}

function serveUpgrade(this: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  // Node has taken its own listeners off.
  socket.on('error', destroy)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    // The request is over, as every other is by now, though its connection lingers.
    response.detachSocket(socket)
    process.nextTick(() => response.emit('close'))
    // What is still unread would make the end a reset, which takes the response from the caller.
    socket.resume()
    socket.end()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
  offers.set(request, { socket, head, response })
  this.emit('request', request, response)
}

function destroy(this: Socket): void {
  this.destroy()
}

/**
 * Hands the connection of a request over, with what was read of it already; null when the request does not ask for that.
 * `use` must write the response itself. The request is over with that: nothing of it is kept.
 */
export function takeConnection(
  request: FastifyRequest,
  reply: FastifyReply,
  use: (taken: Taken) => void,
): void {
  const offered = offers.get(request.raw)
  if (offered === undefined) throw new Error('the request has no connection to take')
  const { socket, head, response } = offered
  offers.delete(request.raw)
  reply.hijack()
  response.removeAllListeners('finish')
  response.statusCode = switched
  response.detachSocket(socket)
  socket.off('error', destroy)
  use({ socket, head })
  response.emit('close')
}

/** Whether the route can take the connection of this request. */
export const isOffered = (request: FastifyRequest): boolean => offers.has(request.raw)
