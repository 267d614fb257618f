import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/errors.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { createEncodings } from '../../platform/http/encodings.ts'
import { sendPage } from '../../platform/http/pages/send-page.ts'
import { sendCached } from '../../platform/http/send-cached.ts'
import type { ConsoleBuild } from './build.service.ts'
import { notBuiltPage } from './console.page.ts'
import { assetSchema, startSchema, viewSchema } from './console.schemas.ts'

const brotliQuality = 9

// The browser may run only files from this host, and must not create scripts or styles from text.
const commonHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
  vary: 'accept-encoding',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Registers the routes of the console. Without a build, the page says how to build it. */
export function registerConsoleRoutes(server: ApiServer, build: ConsoleBuild | null): void {
  const { page, assets } = build ?? { page: null, assets: new Map() as ConsoleBuild['assets'] }
  registerPage(server, page)
  registerAssets(server, assets)
}

function registerPage(server: ApiServer, page: Buffer | null): void {
  const encode = page === null ? null : createEncodings(page, brotliQuality)
  const policy = { user: 'the page has no data; it loads data from routes with their own policies' }
  const config = { policy, errorShape: 'page' as const }
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // If a missing script returned the page, the browser would try to run the page as a script.
    if (request.url.startsWith('/console/assets/')) throw createUnknownFileError()
    if (encode === null) return sendPage(reply, 404, notBuiltPage)
    const file = await encode(request.headers['accept-encoding'])
    return sendCached(request, reply.headers(commonHeaders), file, {
      'content-type': 'text/html; charset=utf-8',
      ...file.contentHeaders,
    })
  }
  server.get('/console', { config, schema: startSchema }, send)
  server.get('/console/*', { config, schema: viewSchema }, send)
}

function registerAssets(server: ApiServer, files: ConsoleBuild['assets']): void {
  const assets = new Map(
    files.entries().map(([name, { bytes, contentType, isCompressible }]) => {
      const encode = createEncodings(bytes, brotliQuality)
      return [name, { contentType, encode: isCompressible ? encode : () => encode('identity') }]
    }),
  )
  const policy = { proxy: 'static files without data; the page of a signed-in person loads them' }
  server.get('/console/assets/:file', { config: { policy }, schema: assetSchema }, async (request, reply) => {
    const asset = assets.get(request.params.file)
    if (asset === undefined) throw createUnknownFileError()
    const file = await asset.encode(request.headers['accept-encoding'])
    return reply
      .headers({
        ...commonHeaders,
        ...file.contentHeaders,
        'content-type': asset.contentType,
        'content-length': file.length,
        'cache-control': 'public, max-age=31536000, immutable',
      })
      .send(file.body)
  })
}

const createUnknownFileError = (): AppError =>
  new AppError('not_found', 'the console has no such file; reload the page to get the current version')
