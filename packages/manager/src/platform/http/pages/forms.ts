// Forms that pages send. A page of another host can make a browser send one too, with the cookies of the person who looks at
// it; browsers say in headers where a form is from.
import { parse } from 'node:querystring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, forbidden } from '../../errors.ts'
import { isOfOwnHost } from '../origin.ts'

const mediaType = /^application\/x-www-form-urlencoded(?:; ?charset="?utf-8"?)?$/i
const maxFields = 20

const wrongType = (): AppError =>
  new AppError('unsupported_media_type', 'send the form as application/x-www-form-urlencoded')

/** The routes of this instance take forms of pages, and no other body. */
export function acceptOnlyPageForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _body, done) => done(wrongType()))
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (request, body, done) => {
      if (!mediaType.test(request.headers['content-type'] ?? '')) done(wrongType())
      // What is beyond that many fields is not read.
      else done(null, { ...parse(body as string, '&', '=', { maxKeys: maxFields }) })
    },
  )
}

/**
 * Throws unless a person opens the page itself: what other sites make a browser load, such as a picture, is no visit. Who
 * sends no such header is let through.
 */
export function refuseEmbedding({ raw }: FastifyRequest): void {
  const destination = raw.headers['sec-fetch-dest']
  if (destination !== undefined && destination !== 'document')
    throw forbidden('open this page by itself; it is no part of another one')
}

/**
 * Throws unless the form is from a page of ours, as far as the browser says. Our pages name no referrer, so they send
 * `Origin: null`; then the other header has to say that the form is of this host.
 */
export function refuseForeignForm({ raw, isFromProxy }: FastifyRequest): void {
  const site = raw.headers['sec-fetch-site']
  const isOwnSite = site === 'same-origin' || site === 'none'
  if (site !== undefined && !isOwnSite) throw forbidden('the form was sent by a page of another site')
  if (raw.headers.origin === 'null' && isOwnSite) return
  if (raw.headers.origin === 'null')
    throw forbidden('the browser does not say which page sent the form; use HTTPS and a current browser')
  if (!isOfOwnHost(raw, isFromProxy))
    throw forbidden('the form was sent by a page of another host: Origin must name the host of this one')
}
