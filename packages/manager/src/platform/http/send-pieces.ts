import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

const jsonType = 'application/json; charset=utf-8'

/**
 * Streams a body. Each piece is produced when the connection has room, so a long list is never completely in
 * memory. A failure after the response has started closes the connection, which Fastify does not log.
 */
export function sendPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  pieces: AsyncIterable<string>,
  type: string = jsonType,
): FastifyReply {
  const body = Readable.from(pieces, { objectMode: false, highWaterMark: 1 })
  body.once('error', (error) => {
    request.hasFailed = true
    request.log.error({ request_id: request.id, err: error }, 'response stream failed')
  })
  // A HEAD response has no body, so its pieces are not produced.
  if (request.method === 'HEAD') body.destroy()
  return reply.header('cache-control', 'no-store').type(type).send(body)
}
