// Policies of REST routes are declared in the route's config and checked when the server becomes ready.
import type { FastifyInstance, FastifySchema } from 'fastify'
import type { ErrorShape } from '../platform/http/error-bodies.ts'
import type { Policy } from './authorize.ts'
import type { Scopes } from './scopes.ts'

/** The `config.policy` of every route contains exactly one of these keys. */
type RoutePolicy =
  /** Reachable by anyone, without the proxy gate; the value states the reason. */
  | { open: string }
  /** Behind the proxy gate, without a user; the value states the reason. */
  | { proxy: string }
  /**
   * Behind the gate, for the user in the tenant that the proxy headers name; the value states the purpose.
   */
  | { tenantUser: string }
  /**
   * For an enabled machine user with a Bearer token, without the proxy gate; the value states the purpose.
   */
  | { machine: string }
  /** Behind the gate, for an identity provider with a SCIM token; the value states the purpose. */
  | { scim: string }
  /** Behind the gate with a user; the value states where the detailed policy is declared. */
  | { user: string }
  /** Behind the gate with a user who has the permission on the object that the parameters identify. */
  | { can: Policy }

declare module 'fastify' {
  interface FastifyContextConfig {
    policy?: RoutePolicy
    /**
     * Audit rows that a request writes if it changes everything it can, as `entity action`; absent if it writes none.
     */
    audited?: readonly string[]
  }
}

export type GuardedRoute = {
  method: string
  path: string
  policy: RoutePolicy
  audited: readonly string[]
  /** Schema of the route, from which the API document is generated. */
  schema: FastifySchema
  errorShape: ErrorShape
  /** True for a HEAD route that Fastify adds to a GET route. */
  isDerived: boolean
}

/** Collects every route that is registered after this call; the returned list is complete once the server is ready. */
export function guardRoutes(server: FastifyInstance, scopes: Scopes): GuardedRoute[] {
  const routes: GuardedRoute[] = []
  const unguardedRoutes: string[] = []
  server.addHook('onRoute', (route) => {
    const { config = {}, schema = {}, url: path } = route
    const { policy, audited = [], errorShape = 'error' } = config
    const isDerived = route.method === 'HEAD'
    for (const method of [route.method].flat()) {
      if (policy === undefined) unguardedRoutes.push(`${method} ${path}`)
      else if ('can' in policy && policy.can.in !== 'SYSTEM' && scopes[policy.can.in] === undefined)
        unguardedRoutes.push(`${method} ${path} (no feature defines the scope ${policy.can.in})`)
      else routes.push({ method, path, policy, audited, schema, errorShape, isDerived })
    }
  })
  server.addHook('onReady', (done) => {
    if (unguardedRoutes.length === 0) done()
    else
      done(
        new Error(
          `routes without a policy (config.policy): ${unguardedRoutes.join(', ')}; the service does not start`,
        ),
      )
  })
  return routes
}
