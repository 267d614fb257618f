// The policy of REST routes: declared in the route's config, checked when the server gets ready.
import type { FastifyInstance, FastifySchema } from 'fastify'
import type { ErrorShape } from '../platform/http/error-bodies.ts'
import type { Policy } from './authorize.ts'
import type { Scopes } from './scopes.ts'

/** Exactly one of these is in `config.policy` of every route. */
type RoutePolicy =
  /** Reachable by anyone, past the proxy gate; the text says why. */
  | { open: string }
  /** Behind the proxy gate, no user needed; the text says why. */
  | { proxy: string }
  /** Behind the gate, for the user in the tenant that the proxy names in its headers; the text says what for. */
  | { tenantUser: string }
  /** For an enabled machine user with a Bearer token, past the proxy gate; the text says what for. */
  | { machine: string }
  /** Behind the gate with a user; the text says where the finer policy is. */
  | { user: string }
  /** Behind the gate with a user who holds the permission on the thing the parameters name. */
  | { can: Policy }

declare module 'fastify' {
  interface FastifyContextConfig {
    policy?: RoutePolicy
    /** The audit rows of a request that changes all it can, as `entity action`; without it the route appends none. */
    audited?: readonly string[]
  }
}

export type GuardedRoute = {
  method: string
  path: string
  policy: RoutePolicy
  audited: readonly string[]
  /** What else the route declares; the API document is made of it. */
  schema: FastifySchema
  errorShape: ErrorShape
  /** A HEAD that Fastify adds to a GET by itself. */
  isDerived: boolean
}

/** Collects every route registered from here on; the returned list is complete once the server is ready. */
export function guardRoutes(server: FastifyInstance, scopes: Scopes): GuardedRoute[] {
  const routes: GuardedRoute[] = []
  const offenders: string[] = []
  server.addHook('onRoute', (route) => {
    const { config = {}, schema = {}, url: path } = route
    const { policy, audited = [], errorShape = 'error' } = config
    const isDerived = route.method === 'HEAD'
    for (const method of [route.method].flat()) {
      if (policy === undefined) offenders.push(`${method} ${path}`)
      else if ('can' in policy && policy.can.in !== 'SYSTEM' && scopes[policy.can.in] === undefined)
        offenders.push(`${method} ${path} (no feature finds ${policy.can.in})`)
      else routes.push({ method, path, policy, audited, schema, errorShape, isDerived })
    }
  })
  server.addHook('onReady', (done) => {
    if (offenders.length === 0) done()
    else
      done(
        new Error(
          `routes without a policy (config.policy): ${offenders.join(', ')}; the service does not start`,
        ),
      )
  })
  return routes
}
