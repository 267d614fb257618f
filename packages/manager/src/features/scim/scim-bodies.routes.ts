// SCIM bodies are JSON with a media type of their own. Clients also send them as application/json.
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../platform/errors.ts'

const mediaTypes = ['application/scim+json', 'application/json']
const typePattern = /^application\/(?:scim\+)?json(?:; ?charset="?utf-8"?)?$/i

/** Accepts both media types on the routes of this scope. */
export function acceptScimBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  const parseJson = server.getDefaultJsonParser('error', 'error')
  server.addContentTypeParser(mediaTypes, { parseAs: 'string' }, (request, body, done) => {
    if (!typePattern.test(request.headers['content-type'] ?? ''))
      done(new AppError('unsupported_media_type', 'send the body as application/scim+json; charset=utf-8'))
    else
      void parseJson(request, body as string, (error: Error | null, value?: unknown) =>
        done(
          error === null ? null : new AppError('bad_request', 'the request body is not valid JSON'),
          value,
        ),
      )
  })
}
