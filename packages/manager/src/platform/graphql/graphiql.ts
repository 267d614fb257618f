// GET /gql: GraphiQL in development. The page and all of its code come from an installed package, nothing from a CDN.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type ContentEncoding, selectEncoding } from '../http/content-encoding.ts'
import type { ApiServer } from '../http/declarations.ts'
import { sendCached } from '../http/send-cached.ts'
import { playgroundSchema } from './graphql.schemas.ts'

/** Registers the page, which opens with these documents; call it only in development. */
export async function registerGraphiql(
  server: ApiServer,
  defaultTabs: readonly { query: string }[],
): Promise<void> {
  // The package is a development dependency: production images do not contain it.
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql').catch((cause: unknown) => {
    throw new Error(
      'SVC_ENV=development serves /gql, which requires the development dependencies; run npm install',
      { cause },
    )
  })
  const page = renderGraphiQL({
    endpoint: '/query',
    title: 'Manager GraphQL',
    defaultTabs: [...defaultTabs],
  })
  const encoded = createEncodings(Buffer.from(page))
  const policy = { open: 'static page, development only; the queries it sends pass the gate' }
  server.get('/gql', { config: { policy }, schema: playgroundSchema }, async (request, reply) => {
    const encoding = selectEncoding(request.headers['accept-encoding'])
    return sendCached(request, reply.header('vary', 'accept-encoding'), await encoded(encoding), {
      'content-type': 'text/html; charset=utf-8',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    })
  })
}

type EncodedPage = { body: Buffer; length: number; etag: string }

/** Returns the page in an encoding. The 9 MB are compressed at the first request, once per encoding, in a thread. */
function createEncodings(page: Buffer): (encoding: ContentEncoding) => Promise<EncodedPage> {
  const hash = createHash('sha256').update(page).digest('base64url').slice(0, 27)
  const results = new Map<ContentEncoding, Promise<EncodedPage>>()
  return (encoding) => {
    let result = results.get(encoding)
    if (result === undefined) {
      // ETags differ between encodings, because the bytes do.
      result = compress(page, encoding).then((body) => ({
        body,
        length: body.length,
        etag: `"${hash}-${encoding}"`,
      }))
      results.set(encoding, result)
    }
    return result
  }
}

async function compress(page: Buffer, encoding: ContentEncoding): Promise<Buffer> {
  if (encoding === 'identity') return page
  if (encoding === 'gzip') return promisify(gzip)(page)
  // A higher quality takes seconds and saves only a few percent.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: page.length }
  return promisify(brotliCompress)(page, { params })
}
