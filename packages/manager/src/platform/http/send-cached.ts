import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EncodedJson } from '../cache/encoded-json.ts'

/**
 * Sends the bytes, or 304 when the client names them; either way it must ask again before it uses its copy. `described`
 * are the headers that go with the bytes alone.
 */
export function sendCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, length, etag }: EncodedJson,
  described: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' },
): FastifyReply {
  void reply.header('etag', etag).header('cache-control', 'no-cache')
  const known = request.headers['if-none-match']
  if (known !== undefined && namesValidator(known, etag)) return sendNotModified(request, reply)
  return reply.headers(described).header('content-length', length).send(body)
}

/** Of a HEAD without a body Fastify would say that it has no bytes, which is not so; of a stream it says nothing. */
export const sendNotModified = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined)

/** Whether If-None-Match names the validator: `*`, or a list of validators, weak ones too. Ours hold no comma. */
export function namesValidator(header: string, etag: string): boolean {
  if (header === etag || header === '*') return true
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag)
}
