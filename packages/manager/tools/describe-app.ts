// Builds the app without serving requests, to generate files from its declarations.
import { createApp } from '../src/app.ts'
import { settings } from '../src/settings.ts'
import { loadConfig } from '../src/config/config.ts'
import { type ProxyRoute, listProxyRoutes } from '../src/proxy-config/routes.ts'
import { createApiDocument } from './openapi.ts'
import { closeWorld, createWorld } from '../src/world.ts'

/**
 * Returns the permission pages, the public schema, the API document and the routes for proxies. Throws if a route
 * lacks a declaration that the document needs.
 */
export async function describeApp(): Promise<{
  policy: Record<string, string>
  schema: string
  openapi: string
  routes: ProxyRoute[]
}> {
  const env = {
    SVC_ENV: 'development',
    SVC_DATABASE_URL: 'postgres://127.0.0.1:1/none',
    SVC_LOG_LEVEL: 'silent',
  }
  const config = loadConfig({ env }, settings)
  const redis = {
    isUp: () => true,
    eval: () => Promise.resolve(null),
    key: (name: string) => name,
    groupKeys: (keys: string[]) => [keys],
    masters: () => [],
    isDown: () => true,
    publish: () => null,
    open: (): never => {
      throw new Error('subscriptions are not available without a Redis server')
    },
    close: () => Promise.resolve(),
  }
  const world = createWorld(config, { redis })
  const app = await createApp(config, world)
  try {
    const { document, undeclaredRoutes } = createApiDocument(app.routes)
    if (undeclaredRoutes.length > 0)
      throw new Error(
        `routes without operationId, summary or response in their schema: ${undeclaredRoutes.join(', ')}`,
      )
    return { ...app.describe(), openapi: JSON.stringify(document), routes: listProxyRoutes(app.routes) }
  } finally {
    await app.server.close()
    await app.readiness.close()
    await closeWorld(world)
  }
}
