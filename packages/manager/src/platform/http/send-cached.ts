import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EncodedJson } from '../cache/encoded-json.ts'

/**
 * Sends the bytes, or 304 if the client has them; either way the client must revalidate its copy before each
 * use. `contentHeaders` are sent only with the bytes.
 */
export function sendCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, length, etag }: EncodedJson,
  contentHeaders: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' },
): FastifyReply {
  void reply.header('etag', etag).header('cache-control', 'no-cache')
  const ifNoneMatch = request.headers['if-none-match']
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag)) return sendNotModified(request, reply)
  return reply.headers(contentHeaders).header('content-length', length).send(body)
}

/**
 * Sends 304. For a HEAD response without a body, Fastify would send a wrong length of 0. For a stream, it
 * sends no length.
 */
export const sendNotModified = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined)

/**
 * Whether If-None-Match contains the ETag: `*`, or a list of ETags, including weak ones. Our ETags contain no comma.
 */
export function matchesEtag(header: string, etag: string): boolean {
  if (header === etag || header === '*') return true
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag)
}
