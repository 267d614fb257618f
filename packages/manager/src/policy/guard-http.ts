// The policy of REST routes: declared in the route's config, checked when the server gets ready.
import type { FastifyInstance } from 'fastify'
import type { Policy } from './authorize.ts'

/** Exactly one of these stands in `config.policy` of every route. */
type RoutePolicy =
  /** Reachable by anyone, past the proxy gate; the text says why. */
  | { open: string }
  /** Behind the proxy gate, no user needed; the text says why. */
  | { proxy: string }
  /** For an enabled machine user with a Bearer token, past the proxy gate; the text says what for. */
  | { machine: string }
  /** Behind the gate with a user; the text says where the finer policy is. */
  | { user: string }
  /** Behind the gate with a user who holds the permission on the thing the parameters name. */
  | { can: Policy }

declare module 'fastify' {
  interface FastifyContextConfig {
    policy?: RoutePolicy
  }
}

export type GuardedRoute = { method: string; path: string; policy: RoutePolicy }

/** Collects every route registered from here on; the returned list is complete once the server is ready. */
export function guardRoutes(server: FastifyInstance): GuardedRoute[] {
  const routes: GuardedRoute[] = []
  const offenders: string[] = []
  server.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const policy = route.config?.policy
      if (policy === undefined) offenders.push(`${method} ${route.url}`)
      else routes.push({ method, path: route.url, policy })
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
