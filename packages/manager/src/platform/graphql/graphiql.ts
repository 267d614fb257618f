// GET /gql: GraphiQL in development. The page and all of its code come from an installed package, nothing from a CDN.
import type { ApiServer } from '../http/declarations.ts'
import { createEncodings } from '../http/encodings.ts'
import { sendCached } from '../http/send-cached.ts'
import { playgroundSchema } from './graphql.schemas.ts'

/** Registers the GraphiQL page, which shows these documents in its tabs. Call the function only in development. */
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
  // With a higher Brotli quality, compressing the 9 MB page takes seconds.
  const encodePage = createEncodings(Buffer.from(page), 4)
  const policy = { open: 'static page, development only; the gate checks the queries that it sends' }
  server.get('/gql', { config: { policy }, schema: playgroundSchema }, async (request, reply) => {
    const file = await encodePage(request.headers['accept-encoding'])
    return sendCached(request, reply.header('vary', 'accept-encoding'), file, {
      'content-type': 'text/html; charset=utf-8',
      ...file.contentHeaders,
    })
  })
}
