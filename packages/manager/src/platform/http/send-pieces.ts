import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

const json = 'application/json; charset=utf-8'

/**
 * Sends a body whose pieces are produced while it is sent, so that a long list is never completely in memory: the next
 * piece is produced when the connection has room. A failure after the response has started closes the connection;
 * Fastify does that without a log line.
 */
export function sendPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  pieces: AsyncIterable<string>,
  type: string = json,
): FastifyReply {
  const body = Readable.from(pieces, { objectMode: false, highWaterMark: 1 })
  body.once('error', (error) => {
    request.hasFailed = true
    request.log.error({ request_id: request.id, err: error }, 'response stream failed')
  })
  // A HEAD has no body, so its pieces are not produced.
  if (request.method === 'HEAD') body.destroy()
  return reply.header('cache-control', 'no-store').type(type).send(body)
}
