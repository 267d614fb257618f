// Bodies that do not come to their end, and bodies that nobody reads. Neither may hold a connection, nor the end of the
// process, for as long as the caller likes.
import type { IncomingMessage, Server } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** When its headers had arrived, by performance.now(). */
    arrivedAt: number
  }
  interface FastifyContextConfig {
    /** How long a body of the route may take to arrive, where that is more than on other routes. */
    bodyTimeoutMs?: number
  }
}

export type ArrivalLimits = {
  /** How long a body may take where the route says nothing. */
  bodyTimeoutMs: number
  /** How long requests in flight are waited for once the server closes. */
  shutdownTimeoutMs: number
  /** Answers the caller, and closes the connection. */
  end: (socket: Socket) => void
}

const watchEveryMs = 1_000
/** The longest time that a route may give its bodies: Node ends every request that takes longer. */
export const longestBodyMs = 120_000

/**
 * Ends requests whose body is overdue. Node's own check has one limit for all routes, and is over as soon as the server
 * closes.
 */
export function watchBodies(
  server: Server,
  inflight: ReadonlySet<FastifyRequest>,
  limits: ArrivalLimits,
): { close(): void } {
  let waitsUntil = Infinity
  const endLate = (): void => {
    const now = performance.now()
    for (const { raw, arrivedAt, routeOptions } of incomplete(inflight)) {
      const timeoutMs = routeOptions.config?.bodyTimeoutMs ?? limits.bodyTimeoutMs
      if (now > Math.min(arrivedAt + timeoutMs, waitsUntil)) limits.end(raw.socket)
    }
  }
  const watch = setInterval(endLate, watchEveryMs).unref()
  server.once('close', () => clearInterval(watch))
  return {
    /** Once no request is in flight, connections that never sent a whole one need not be waited for. */
    close: () => {
      // A request that has not arrived is not work to be finished; it must not make the process overrun its time.
      waitsUntil = performance.now() + 0.9 * limits.shutdownTimeoutMs
      const timer = setInterval(() => {
        endLate()
        if (inflight.size > 0) return
        server.closeAllConnections()
        clearInterval(timer)
      }, 50).unref()
    },
  }
}

function* incomplete(requests: ReadonlySet<FastifyRequest>): Generator<FastifyRequest> {
  for (const request of requests) if (!request.raw.complete) yield request
}

export type RestLimits = { maxBytes: number; timeoutMs: number }

/**
 * After a response, the rest of the body is read and dropped: the caller may read the response only when it has sent
 * everything, and the next request follows on the same connection. Beyond so many bytes, or after so long, the connection
 * is closed.
 */
export function dropRest(request: IncomingMessage, { maxBytes, timeoutMs }: RestLimits): void {
  const { socket } = request
  // A request that was injected has no connection.
  if (request.complete || !(socket instanceof Socket) || socket.destroyed) return
  let bytes = 0
  const count = (piece: Buffer): void => {
    bytes += piece.length
    if (request.complete) socket.off('data', count)
    else if (bytes > maxBytes) socket.destroy()
  }
  const overdue = setTimeout(() => request.complete || socket.destroy(), timeoutMs).unref()
  request.once('close', () => clearTimeout(overdue))
  // Node hands on nothing of a body that nobody has begun to read, so it is counted on the connection. A listener there
  // takes the connection from the parser, so it comes after the parser has begun to read again.
  request.resume()
  setImmediate(() => {
    if (request.complete) return
    socket.on('data', count)
    // The response was the last one: what follows the body is no request any more.
    if (socket.writableEnded) request.once('end', () => socket.destroy())
  })
}

/** Whether the rest of the body may be more than is read and dropped; in chunks its length is not announced. */
export const mayOverrun = ({ complete, headers }: IncomingMessage, maxBytes: number): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > maxBytes)

/**
 * Makes this response the last one on its connection, and says so: a caller that took the connection for its next request
 * would lose that. Node would also stop reading at once, and bytes that arrive at a closed connection take the response
 * from the caller; so only our side is closed, and dropRest closes the other.
 */
export function endAfterRest({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('connection', 'close')
  if (socket instanceof Socket) socket.destroySoon = () => socket.end()
}
