// Handles bodies that never arrive completely, and bodies that no handler reads. Neither may keep a connection open or
// delay the shutdown of the process indefinitely.
import type { IncomingMessage, Server } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** Time at which the headers of the request had arrived, as a performance.now() value. */
    arrivedAt: number
  }
  interface FastifyContextConfig {
    /** Time limit for bodies of the route, if it is longer than on other routes. */
    bodyTimeoutMs?: number
  }
}

/** Time limits for bodies, and the function that ends an overdue request. */
export type ArrivalLimits = {
  /** Time limit for bodies on routes without their own limit. */
  bodyTimeoutMs: number
  /** How long the server waits for requests in flight when it shuts down. */
  shutdownTimeoutMs: number
  /** Sends an error response and closes the connection. */
  end: (socket: Socket) => void
}

const watchEveryMs = 1_000
/** The longest time limit that a route may set: Node ends every request that takes longer. */
export const maxBodyTimeoutMs = 120_000

/**
 * Ends requests whose body is overdue. Node's own check has one limit for all routes, and stops when the server closes.
 */
export function watchBodies(
  server: Server,
  inflight: ReadonlySet<FastifyRequest>,
  limits: ArrivalLimits,
): { close(): void } {
  let shutdownDeadline = Infinity
  const endOverdue = (): void => {
    const now = performance.now()
    for (const { raw, arrivedAt, routeOptions } of listIncompleteRequests(inflight)) {
      const timeoutMs = routeOptions.config?.bodyTimeoutMs ?? limits.bodyTimeoutMs
      if (now > Math.min(arrivedAt + timeoutMs, shutdownDeadline)) limits.end(raw.socket)
    }
  }
  const watchTimer = setInterval(endOverdue, watchEveryMs).unref()
  server.once('close', () => clearInterval(watchTimer))
  return {
    /** Closes all connections once no request is in flight, without waiting for incomplete requests. */
    close: () => {
      // An incomplete request cannot be finished, so it must not delay the process beyond its shutdown
      // timeout.
      shutdownDeadline = performance.now() + 0.9 * limits.shutdownTimeoutMs
      const timer = setInterval(() => {
        endOverdue()
        if (inflight.size > 0) return
        server.closeAllConnections()
        clearInterval(timer)
      }, 50).unref()
    },
  }
}

function* listIncompleteRequests(requests: ReadonlySet<FastifyRequest>): Generator<FastifyRequest> {
  for (const request of requests) if (!request.raw.complete) yield request
}

/** Limits for the unread rest of a body. */
export type DrainLimits = { maxBytes: number; timeoutMs: number }

/**
 * Reads and drops the rest of the body after a response. Some callers read the response only after they have sent the
 * whole body, and the next request follows on the same connection. If the rest exceeds the limits, the connection is
 * closed.
 */
export function drainBody(request: IncomingMessage, { maxBytes, timeoutMs }: DrainLimits): void {
  const { socket } = request
  // An injected request has no connection.
  if (request.complete || !(socket instanceof Socket) || socket.destroyed) return
  let byteCount = 0
  const countBytes = (piece: Buffer): void => {
    byteCount += piece.length
    if (request.complete) socket.off('data', countBytes)
    else if (byteCount > maxBytes) socket.destroy()
  }
  const drainTimer = setTimeout(() => request.complete || socket.destroy(), timeoutMs).unref()
  request.once('close', () => clearTimeout(drainTimer))
  // Node emits no data for a body without a reader, so bytes are counted on the connection. A listener on
  // the connection detaches the parser, so the listener is added after the parser has resumed.
  request.resume()
  setImmediate(() => {
    if (request.complete) return
    socket.on('data', countBytes)
    // The response was the last one on the connection, so data after the body is not a request.
    if (socket.writableEnded) request.once('end', () => socket.destroy())
  })
}

/**
 * Whether the rest of the body may exceed the number of bytes that the server reads and drops. A chunked body does not
 * announce its length.
 */
export const canExceedLimit = ({ complete, headers }: IncomingMessage, maxBytes: number): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > maxBytes)

/**
 * Makes this response the last response on its connection, and announces that with a header. Otherwise, the
 * caller could lose its next request. Node would also stop reading immediately, and bytes that arrive at a
 * closed connection destroy the response. Therefore only the server side is closed here, and drainBody closes
 * the other side.
 */
export function closeAfterDrain({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('connection', 'close')
  if (socket instanceof Socket) socket.destroySoon = () => socket.end()
}
