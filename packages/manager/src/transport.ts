// What the features are reached through: one GraphQL schema, one HTTP server, and the policy in front of both.
import { printSchema } from 'graphql'
import type { Config } from './config.ts'
import type { Feature } from './feature.ts'
import { createDbErrorReader } from './platform/db/db-errors.ts'
import { chargeFields } from './platform/graphql/answer-budget.ts'
import { registerGraphql } from './platform/graphql/endpoint.ts'
import { registerGraphiql } from './platform/graphql/graphiql.ts'
import { createSchema, readSdl } from './platform/graphql/schema.ts'
import { createClientAddress } from './platform/http/client-address.ts'
import type { ApiServer } from './platform/http/declarations.ts'
import type { Gate } from './platform/http/gate.ts'
import type { Identity } from './platform/http/identity.ts'
import { createServer } from './platform/http/server.ts'
import type { ReadinessProbe } from './platform/readiness.ts'
import { type AuthenticateOptions, authenticate } from './policy/authenticate.ts'
import { type GuardedField, guardSchema } from './policy/guard-graphql.ts'
import { type GuardedRoute, guardRoutes } from './policy/guard-http.ts'
import { printPolicy } from './policy/table.ts'
import type { World } from './world.ts'

export type Transport = {
  server: ApiServer
  routes: readonly GuardedRoute[]
  fields: readonly GuardedField[]
  /** The generated pages that describe the service. */
  describe(): { policy: string; schema: string }
}

type Parts = {
  config: Config
  world: World
  features: readonly Feature[]
  gate: Gate
  readiness: ReadinessProbe
  /** Connections the API port holds at once. */
  maxConnections: number
  /** How callers are known: by forwarded identity, personal access token or machine token. */
  callers: Callers
  /** Ends what the features share, after their own ends. */
  close: () => Promise<void>
}
export type Callers = Pick<AuthenticateOptions, 'provision' | 'tokenOwner' | 'machineOf'>

export type TransportOptions = {
  /** Who a request without identity is; only the development escape hatch sets it. */
  fallbackIdentity?: Identity
  /** Changes the SDL before it is built: a test shows with it that a missing policy stops the boot. */
  alterSdl?: (sdl: string) => string
  /** Registers further routes, for the same kind of test. */
  extend?: (server: ApiServer) => void
}

const maxRequestMs = 20_000

const policySdl = readSdl('./policy/policy.graphql', import.meta.url)

/** Builds and checks schema and server; nothing listens yet. */
export async function createTransport(parts: Parts, options: TransportOptions): Promise<Transport> {
  const { config, world, features, gate, readiness } = parts
  const { log, metrics } = world
  const sdl = [policySdl, ...features.map((feature) => feature.sdl ?? '')].map(
    options.alterSdl ?? ((text) => text),
  )
  const schema = createSchema(
    sdl,
    features.map((feature) => feature.resolvers ?? {}),
  )
  const publicSchema = printSchema(schema)
  const fields = guardSchema(schema)
  chargeFields(schema)

  const readDbError = createDbErrorReader(
    Object.assign({}, ...features.map((feature) => feature.constraints ?? {})),
  )
  const server = createServer({
    log,
    metrics,
    readDbError,
    pool: world.database.pool,
    maxWaiting: config.databaseMaxWaiting,
    maxConnections: parts.maxConnections,
    isDraining: () => readiness.isDraining(),
  })
  const routes = guardRoutes(server)
  authenticate(server, {
    gate,
    metrics,
    ...parts.callers,
    db: world.database.db,
    clientAddress: createClientAddress(config.trustedProxies),
    fallbackIdentity: options.fallbackIdentity ?? null,
  })
  if (config.roles.includes('api')) {
    registerGraphql(server, {
      schema,
      readDbError,
      maxBodyBytes: config.graphqlMaxBodyBytes,
      policy: { user: 'each field declares its own policy (@can)' },
      createContext: (request) => ({ actor: request.actor, deadline: performance.now() + maxRequestMs }),
    })
    if (config.env === 'development') await registerGraphiql(server)
  }
  // Hooks of the end run last in, first out.
  server.addHook('onClose', parts.close)
  for (const feature of features) {
    if (feature.role === undefined || config.roles.includes(feature.role)) feature.routes?.(server)
    if (feature.close !== undefined) server.addHook('onClose', feature.close)
  }
  options.extend?.(server)
  await server.ready()
  return {
    server,
    routes,
    fields,
    describe: () => ({ policy: printPolicy(fields, routes), schema: publicSchema }),
  }
}
