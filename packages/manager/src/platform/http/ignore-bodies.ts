import type { FastifyInstance } from 'fastify'

/** Where no body is expected, clients send an empty one all the same, in pieces, or with the Content-Type of another. */
export function ignoreBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null))
}
