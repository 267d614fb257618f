// The transport serves all features through one GraphQL schema and one HTTP server, with the policy in front of both.
import { printSchema } from 'graphql'
import type { Deps } from './deps.ts'
import type { CreatedFeature } from './feature.ts'
import { graphiqlTabs } from './graphiql-tabs.ts'
import { createDbErrorMapper } from './platform/postgres/db-errors.ts'
import { chargeFields } from './platform/graphql/response-budget.ts'
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
import { resolvePermissionFields } from './policy/permission-fields.ts'
import { permissionSdl } from './policy/permissions.ts'
import type { Scopes } from './policy/scopes.ts'
import { printPolicy } from './policy/table.ts'

export type Transport = {
  server: ApiServer
  routes: readonly GuardedRoute[]
  fields: readonly GuardedField[]
  /** Returns the content of the generated pages: the policy tables and the schema. */
  describe(): { policy: Record<string, string>; schema: string }
}

type Options = {
  deps: Deps
  features: readonly CreatedFeature[]
  /** Functions that identify callers by forwarded identity, personal access token, machine token or SCIM token. */
  callers: Callers
  /** Closes the shared dependencies after all features have closed. */
  close: () => Promise<void>
}
type Callers = Pick<
  AuthenticateOptions,
  'provision' | 'authenticateToken' | 'authenticateMachine' | 'authenticateScim'
>

export type TransportOptions = {
  /** Identity for requests without one; only the development escape hatch sets it. */
  fallbackIdentity?: Identity
  /** Modifies the SDL before the schema is built; tests use it to prove that a missing policy stops startup. */
  alterSdl?: (sdl: string) => string
  /** Registers additional routes that only tests need. */
  extend?: (server: ApiServer) => void
  /** Event loop delay in milliseconds; measured unless a test supplies it. */
  loopDelayMs?: () => number
  /** Timeout for receiving a request body on most routes, 30 s by default; tests lower it. */
  bodyTimeoutMs?: number
}

const maxRequestMs = 20_000

const policySdl = permissionSdl + readSdl(import.meta.url, './policy/policy.graphql')

/** Builds and checks the schema and the server; the server does not listen yet. */
export async function createTransport(
  { deps, features, callers, close }: Options,
  options: TransportOptions,
): Promise<Transport> {
  const { config, metrics, readiness } = deps
  const { schema, scopes, fields, printedSchema } = createGuardedSchema(features, options.alterSdl)
  const mapDbError = createDbErrorMapper(mergeByName(features.map((feature) => feature.constraints)))
  const server = createServer({
    log: deps.log,
    metrics,
    tracing: deps.tracing,
    mapDbError,
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
    lookUp: deps.lookUp,
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
      mapDbError,
      maxBodyBytes: config.graphqlMaxBodyBytes,
      policy: { user: 'each field declares its own policy (@can)' },
      getUserId: ({ actor }) => actor?.user.id ?? '',
      createContext: ({ actor }) => ({ actor, deadline: performance.now() + maxRequestMs }),
    })
    if (config.env === 'development') await registerGraphiql(server, graphiqlTabs)
  }
  // onClose hooks run in reverse order, so the shared dependencies close after the features.
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
    describe: () => ({ policy: printPolicy(fields, routes), schema: printedSchema }),
  }
}

/** Builds the schema of all features, checks the policy of every field, and prints the schema. */
function createGuardedSchema(features: readonly CreatedFeature[], alterSdl = (sdl: string) => sdl) {
  const schema = createSchema(
    [policySdl, ...features.map((feature) => feature.sdl ?? '')].map(alterSdl),
    features.map((feature) => feature.resolvers ?? {}),
    mergeByName(features.map((feature) => feature.links)),
  )
  const printedSchema = printSchema(schema)
  const scopes: Scopes = mergeByName(features.map((feature) => feature.scopes))
  resolvePermissionFields(schema)
  const fields = guardSchema(schema, scopes)
  chargeFields(schema)
  countObjects(schema)
  return { schema, scopes, fields, printedSchema }
}

/** Merges the tables of all features into one table. Throws if two features use the same name. */
function mergeByName<Value>(
  tables: readonly (Readonly<Record<string, Value>> | undefined)[],
): Record<string, Value> {
  const all: Record<string, Value> = {}
  for (const [name, value] of tables.flatMap((table) => Object.entries(table ?? {}))) {
    if (Object.hasOwn(all, name)) throw new Error(`two features define ${name}`)
    all[name] = value
  }
  return all
}
