// GET /gql: GraphiQL in development. The page and all of its code come from an installed package, nothing from a CDN.
import type { ApiServer } from '../http/declarations.ts'
import { playgroundSchema } from './graphql.schemas.ts'

/** Registers the page; call it only in development. */
export async function registerGraphiql(server: ApiServer): Promise<void> {
  // A development dependency: production images do not hold it.
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql').catch((cause: unknown) => {
    throw new Error(
      'SVC_ENV=development serves /gql, which needs the development packages; run npm install',
      { cause },
    )
  })
  const page = renderGraphiQL({ endpoint: '/query', title: 'Manager GraphQL' })
  const policy = { open: 'static page, development only; the queries it sends pass the gate' }
  server.get('/gql', { config: { policy }, schema: playgroundSchema }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(page),
  )
}
