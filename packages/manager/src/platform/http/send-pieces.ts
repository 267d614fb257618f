import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

const json = 'application/json; charset=utf-8'

/**
 * Sends a body whose pieces are made while they are sent, so that a long list is never whole in memory: the next piece is
 * made when the connection has room for it. What fails once the response has begun cuts the connection; Fastify does that,
 * and logs nothing.
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
    request.log.error({ request_id: request.id, err: error }, 'a response could not be ended')
  })
  // Nobody reads the body of a HEAD, so its pieces are not made either.
  if (request.method === 'HEAD') body.destroy()
  return reply.header('cache-control', 'no-store').type(type).send(body)
}
