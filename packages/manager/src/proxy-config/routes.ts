// Route properties that a proxy needs, derived from the route declarations. `npm run generate` writes the list to
// generated/routes.ts, so that rendering does not need a running service.
import type { GuardedRoute } from '../policy/guard-http.ts'

/** Required credential: none, a machine token, the proxy secret, or the secret with a user or a user in a tenant. */
type RouteGate = 'open' | 'machine' | 'proxy' | 'user' | 'tenant_user'
/** Hosts that serve the route; `none` marks routes that only the proxy itself calls, never its clients. */
type ServedOn = 'management' | 'application' | 'none'
export type ProxyRoute = { path: string; methods: readonly string[]; gate: RouteGate; served_on: ServedOn }

const gates: Record<string, RouteGate> = {
  open: 'open',
  machine: 'machine',
  proxy: 'proxy',
  tenantUser: 'tenant_user',
  user: 'user',
  can: 'user',
}

/** Returns the routes by path, without development routes; throws if the methods of a path differ in gate or host. */
export function proxyRoutes(routes: readonly GuardedRoute[]): ProxyRoute[] {
  const served = routes.filter(({ schema }) => schema.tags?.includes('development') !== true)
  const byPath = Map.groupBy(served, ({ path }) => path)
  return [...byPath]
    .map(([path, sharing]) => ({
      path,
      methods: methodsOf(sharing),
      gate: sameForAll(path, sharing.map(gateOf)),
      served_on: sameForAll(path, sharing.map(servedOn)),
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function gateOf({ policy }: GuardedRoute): RouteGate {
  const [kind = ''] = Object.keys(policy)
  const gate = gates[kind]
  if (gate === undefined) throw new Error(`no proxy gate for the policy ${kind}`)
  return gate
}

function servedOn({ path, schema }: GuardedRoute): ServedOn {
  if (schema.tags?.includes('proxy') !== true) return 'management'
  return applicationParameter.test(path) ? 'application' : 'none'
}

/** Matches the path parameter that names the application of a host. */
export const applicationParameter = /:(?:applicationId|application_id|appID)(?=\/|$)/
/** Matches the path parameter that names the tenant of a host. */
export const tenantParameter = /:(?:tenantId|tenant_id)(?=\/|$)/

function sameForAll<Value>(path: string, values: readonly Value[]): Value {
  const [first, ...more] = new Set(values)
  if (first === undefined || more.length > 0)
    throw new Error(`the methods of ${path} need different gates or hosts; a proxy selects them by path only`)
  return first
}

/** Returns `ANY` for a route that accepts every method. */
function methodsOf(sharing: readonly GuardedRoute[]): string[] {
  const methods = [...new Set(sharing.map(({ method }) => method))].toSorted()
  return methods.length > 10 ? ['ANY'] : methods
}
