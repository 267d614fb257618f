// What the features are reached through: one GraphQL schema, one HTTP server, and the policy in front of both.
import { printSchema } from 'graphql'
import type { Deps } from './deps.ts'
import type { CreatedFeature } from './feature.ts'
import { graphiqlTabs } from './graphiql-tabs.ts'
import { createDbErrorReader } from './platform/postgres/db-errors.ts'
import { chargeFields } from './platform/graphql/answer-budget.ts'
import { registerGraphql } from './platform/graphql/endpoint.ts'
import { registerGraphiql } from './platform/graphql/graphiql.ts'
import { countObjects } from './platform/graphql/object-budget.ts'
import { createSchema, readSdl } from './platform/graphql/schema.ts'
import { createClientAddress } from './platform/http/client-address.ts'
import type { ApiServer } from './platform/http/declarations.ts'
import type { Identity } from './platform/http/identity.ts'
import { createServer } from './platform/http/server.ts'
import { type AuthenticateOptions, authenticate } from './policy/authenticate.ts'
import { type GuardedField, guardSchema } from './policy/guard-graphql.ts'
import { type GuardedRoute, guardRoutes } from './policy/guard-http.ts'
import { permissionSdl } from './policy/permissions.ts'
import type { Scopes } from './policy/scopes.ts'
import { printPolicy } from './policy/table.ts'

export type Transport = {
  server: ApiServer
  routes: readonly GuardedRoute[]
  fields: readonly GuardedField[]
  /** The generated pages that describe the service. */
  describe(): { policy: Record<string, string>; schema: string }
}

type Options = {
  deps: Deps
  features: readonly CreatedFeature[]
  /** How callers are identified: by forwarded identity, personal access token or machine token. */
  callers: Callers
  /** Closes what the features share, after they have closed. */
  close: () => Promise<void>
}
type Callers = Pick<AuthenticateOptions, 'provision' | 'tokenOwner' | 'machineOf'>

export type TransportOptions = {
  /** Who a request without identity is; only the development escape hatch sets it. */
  fallbackIdentity?: Identity
  /** Changes the SDL before it is built: a test shows with it that a missing policy stops the boot. */
  alterSdl?: (sdl: string) => string
  /** Registers further routes, for the same kind of test. */
  extend?: (server: ApiServer) => void
  /** How late the event loop is; a test says it, everybody else has it measured. */
  loopDelayMs?: () => number
  /** How long a body may take on most routes; a test has no 30 seconds. */
  bodyTimeoutMs?: number
}

const maxRequestMs = 20_000

const policySdl = permissionSdl + readSdl(import.meta.url, './policy/policy.graphql')

/** Builds and checks schema and server; nothing listens yet. */
export async function createTransport(
  { deps, features, callers, close }: Options,
  options: TransportOptions,
): Promise<Transport> {
  const { config, metrics, readiness } = deps
  const { schema, scopes, fields, print } = createGuardedSchema(features, options.alterSdl)
  const readDbError = createDbErrorReader(joined(features.map((feature) => feature.constraints)))
  const server = createServer({
    log: deps.log,
    metrics,
    tracing: deps.tracing,
    readDbError,
    pool: deps.database.pools.requests,
    waiting: deps.database.waiting,
    maxConnections: deps.shares.api,
    isDraining: () => readiness.isDraining(),
    shutdownTimeoutMs: config.shutdownTimeoutMs,
    loopDelayMs: options.loopDelayMs,
    bodyTimeoutMs: options.bodyTimeoutMs,
  })
  const routes = guardRoutes(server, scopes)
  authenticate(server, {
    ...callers,
    db: deps.db,
    gate: deps.gate,
    authFailures: deps.authFailures,
    activity: deps.activity,
    metrics,
    scopes,
    clientAddress: createClientAddress(config.trustedProxies),
    fallbackIdentity: options.fallbackIdentity ?? null,
  })
  if (config.roles.includes('api')) {
    registerGraphql(server, {
      schema,
      readDbError,
      maxBodyBytes: config.graphqlMaxBodyBytes,
      policy: { user: 'each field declares its own policy (@can)' },
      personOf: ({ actor }) => actor?.user.id ?? '',
      createContext: ({ actor }) => ({ actor, deadline: performance.now() + maxRequestMs }),
    })
    if (config.env === 'development') await registerGraphiql(server, graphiqlTabs)
  }
  // Hooks of the end run last in, first out.
  server.addHook('onClose', close)
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
    describe: () => ({ policy: printPolicy(fields, routes), schema: print }),
  }
}

/** The schema of all features with the policy in front of every field, and what it prints as. */
function createGuardedSchema(features: readonly CreatedFeature[], alterSdl = (sdl: string) => sdl) {
  const schema = createSchema(
    [policySdl, ...features.map((feature) => feature.sdl ?? '')].map(alterSdl),
    features.map((feature) => feature.resolvers ?? {}),
    joined(features.map((feature) => feature.links)),
  )
  const print = printSchema(schema)
  const scopes: Scopes = joined(features.map((feature) => feature.scopes))
  const fields = guardSchema(schema, scopes)
  chargeFields(schema)
  countObjects(schema)
  return { schema, scopes, fields, print }
}

/** What features contribute under names, in one table; two that take the same name stop the start. */
function joined<Value>(
  tables: readonly (Readonly<Record<string, Value>> | undefined)[],
): Record<string, Value> {
  const all: Record<string, Value> = {}
  for (const [name, value] of tables.flatMap((table) => Object.entries(table ?? {}))) {
    if (Object.hasOwn(all, name)) throw new Error(`two features contribute ${name}`)
    all[name] = value
  }
  return all
}
