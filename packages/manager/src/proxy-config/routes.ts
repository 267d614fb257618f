// What a proxy has to know about a route, read from the route's own declarations. `npm run generate` writes the list to
// generated/routes.ts, so that rendering needs no running service.
import type { GuardedRoute } from '../policy/guard-http.ts'

/** What the service demands: nothing, a machine token, the proxy's secret, and with it a user or a user in a tenant. */
type RouteGate = 'open' | 'machine' | 'proxy' | 'user' | 'tenant_user'
/** The hosts that have it; `none` is for requests that the proxy makes itself, and never for those of clients. */
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

/** The routes of a service by path, without those of development; throws when the methods of a path differ in their gate. */
export function proxyRoutes(routes: readonly GuardedRoute[]): ProxyRoute[] {
  const served = routes.filter(({ schema }) => schema.tags?.includes('development') !== true)
  const byPath = Map.groupBy(served, ({ path }) => path)
  return [...byPath]
    .map(([path, sharing]) => ({
      path,
      methods: methodsOf(sharing),
      gate: onlyOne(path, sharing.map(gateOf)),
      served_on: onlyOne(path, sharing.map(servedOn)),
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function gateOf({ policy }: GuardedRoute): RouteGate {
  const [kind = ''] = Object.keys(policy)
  const gate = gates[kind]
  if (gate === undefined) throw new Error(`a proxy knows no gate for the policy ${kind}`)
  return gate
}

function servedOn({ path, schema }: GuardedRoute): ServedOn {
  if (schema.tags?.includes('proxy') !== true) return 'management'
  return applicationParameter.test(path) ? 'application' : 'none'
}

/** The parameter of a path that names the application of a host. */
export const applicationParameter = /:(?:applicationId|application_id|appID)(?=\/|$)/
/** The parameter of a path that names the tenant of a host. */
export const tenantParameter = /:(?:tenantId|tenant_id)(?=\/|$)/

function onlyOne<Value>(path: string, values: readonly Value[]): Value {
  const [first, ...more] = new Set(values)
  if (first === undefined || more.length > 0)
    throw new Error(`the methods of ${path} differ; a proxy cannot tell them apart`)
  return first
}

/** `ANY` for a route that takes every method. */
function methodsOf(sharing: readonly GuardedRoute[]): string[] {
  const methods = [...new Set(sharing.map(({ method }) => method))].toSorted()
  return methods.length > 10 ? ['ANY'] : methods
}
