// Forms on the service's pages. A page of another host can also make a browser send a form with the visitor's
// cookies, but the request headers reveal the origin.
import { parse } from 'node:querystring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, forbidden } from '../../errors.ts'
import { isSameHost } from '../origin.ts'

const mediaTypePattern = /^application\/x-www-form-urlencoded(?:; ?charset="?utf-8"?)?$/i
const maxFields = 20

const createWrongTypeError = (): AppError =>
  new AppError('unsupported_media_type', 'send the form as application/x-www-form-urlencoded')

/** Makes the routes of this instance accept forms from pages, and no other body. */
export function acceptOnlyPageForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _body, done) => done(createWrongTypeError()))
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (request, body, done) => {
      if (!mediaTypePattern.test(request.headers['content-type'] ?? '')) done(createWrongTypeError())
      // The parser ignores fields in excess of this number.
      else done(null, { ...parse(body as string, '&', '=', { maxKeys: maxFields }) })
    },
  )
}

/**
 * Throws 403 unless the page is opened directly: another site must not embed it, for example as an image.
 * Requests without Sec-Fetch-Dest are accepted.
 */
export function refuseEmbedding({ raw }: FastifyRequest): void {
  const destination = raw.headers['sec-fetch-dest']
  if (destination !== undefined && destination !== 'document')
    throw forbidden('open this page directly; it cannot be embedded')
}

/**
 * Throws 403 unless the form is from a page of this service, as far as the browser reports it. The pages send no
 * referrer, so browsers send `Origin: null`. Sec-Fetch-Site must then confirm that the form is from this host.
 */
export function refuseForeignForm({ raw, isFromProxy }: FastifyRequest): void {
  const fetchSite = raw.headers['sec-fetch-site']
  const isOwnSite = fetchSite === 'same-origin' || fetchSite === 'none'
  if (fetchSite !== undefined && !isOwnSite) throw forbidden('cross-site form rejected')
  if (raw.headers.origin === 'null' && isOwnSite) return
  if (raw.headers.origin === 'null')
    throw forbidden('the browser does not report which page sent the form; use HTTPS and a current browser')
  if (!isSameHost(raw, isFromProxy))
    throw forbidden('cross-origin form rejected: Origin must match the host of this page')
}
