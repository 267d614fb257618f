// Answers whose bytes are made once and sent many times, with the validator that lets a client keep its copy.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type PreparedJson = { body: Buffer; etag: string }

/** The bytes of a JSON answer and their strong validator. */
export function prepareJson(value: unknown): PreparedJson {
  const body = Buffer.from(JSON.stringify(value))
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` }
}

/** Sends the bytes, or 304 when the client names them; either way it must ask again before it uses its copy. */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, etag }: PreparedJson,
): FastifyReply {
  void reply.header('etag', etag).header('cache-control', 'no-cache')
  const known = request.headers['if-none-match']
  if (known !== undefined && names(known, etag)) return reply.code(304).send()
  return reply.header('content-type', 'application/json; charset=utf-8').send(body)
}

/** Whether If-None-Match names the validator: `*`, or a list of validators, weak ones too. Ours hold no comma. */
function names(header: string, etag: string): boolean {
  if (header === etag || header === '*') return true
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag)
}
