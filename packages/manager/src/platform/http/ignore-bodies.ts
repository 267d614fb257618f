import type { FastifyInstance } from 'fastify'

/**
 * Discards request bodies on routes that expect none. Clients send empty bodies anyway, chunked or with any
 * Content-Type.
 */
export function ignoreBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null))
}
