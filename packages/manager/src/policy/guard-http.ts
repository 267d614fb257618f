// Policies of REST routes are declared in the route's config and checked when the server becomes ready.
import type { FastifyInstance, FastifySchema } from 'fastify'
import type { ErrorShape } from '../platform/http/error-bodies.ts'
import type { Policy } from './authorize.ts'
import type { Scopes } from './scopes.ts'

/** Exactly one of these is in `config.policy` of every route. */
type RoutePolicy =
  /** Reachable by anyone, without the proxy gate; the text says why. */
  | { open: string }
  /** Behind the proxy gate, without a user; the text says why. */
  | { proxy: string }
  /** Behind the gate, for the user in the tenant that the proxy names in its headers; the text states the purpose. */
  | { tenantUser: string }
  /** For an enabled machine user with a Bearer token, without the proxy gate; the text states the purpose. */
  | { machine: string }
  /** Behind the gate with a user; the text says where the finer policy is. */
  | { user: string }
  /** Behind the gate with a user who has the permission on the object that the parameters identify. */
  | { can: Policy }

declare module 'fastify' {
  interface FastifyContextConfig {
    policy?: RoutePolicy
    /** Audit rows of a request that changes everything it can, as `entity action`; no rows if absent. */
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

/** Collects every route registered after this call; the returned list is complete once the server is ready. */
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
        offenders.push(`${method} ${path} (no feature defines the scope ${policy.can.in})`)
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
