// Route properties that a proxy needs, derived from the route declarations. `npm run generate` writes the list to
// generated/routes.ts, so that rendering does not need a running service.
import type { GuardedRoute } from '../policy/guard-http.ts'

/**
 * Required credential: none, a machine token, the proxy secret, or the secret with a SCIM token, a user, or a user in a
 * tenant.
 */
type RouteGate = 'open' | 'machine' | 'proxy' | 'scim' | 'user' | 'tenant_user'
/** Hosts that serve the route; `none` marks routes that only the proxy itself calls, never its clients. */
type ServedOn = 'management' | 'application' | 'none'
export type ProxyRoute = { path: string; methods: readonly string[]; gate: RouteGate; served_on: ServedOn }

const gates: Record<string, RouteGate> = {
  open: 'open',
  machine: 'machine',
  proxy: 'proxy',
  scim: 'scim',
  tenantUser: 'tenant_user',
  user: 'user',
  can: 'user',
}

/**
 * Returns the routes in the order in which a proxy matches them, without development routes. Throws if the methods of a
 * path differ in gate or host.
 */
export function listProxyRoutes(routes: readonly GuardedRoute[]): ProxyRoute[] {
  const productionRoutes = routes.filter(({ schema }) => schema.tags?.includes('development') !== true)
  const routesByPath = Map.groupBy(productionRoutes, ({ path }) => path)
  return [...routesByPath]
    .map(([path, pathRoutes]) => ({
      path,
      methods: listMethods(pathRoutes),
      gate: getCommonValue(path, pathRoutes.map(getGate)),
      served_on: getCommonValue(path, pathRoutes.map(getServedOn)),
    }))
    .toSorted((a, b) => (getSortKey(a.path) < getSortKey(b.path) ? -1 : 1))
}

/** A wildcard comes after the paths that it also matches, because a proxy uses the first match. */
const getSortKey = (path: string): string => path.replaceAll('*', '~')

function getGate({ policy }: GuardedRoute): RouteGate {
  const [kind = ''] = Object.keys(policy)
  const gate = gates[kind]
  if (gate === undefined) throw new Error(`no proxy gate for the policy ${kind}`)
  return gate
}

function getServedOn({ path, schema }: GuardedRoute): ServedOn {
  if (schema.tags?.includes('proxy') !== true) return 'management'
  return applicationParameter.test(path) ? 'application' : 'none'
}

/** Matches the path parameter that names the application of a host. */
export const applicationParameter = /:(?:applicationId|application_id|appID)(?=\/|$)/
/** Matches the path parameter that names the tenant of a host. */
export const tenantParameter = /:(?:tenantId|tenant_id)(?=\/|$)/

function getCommonValue<Value>(path: string, values: readonly Value[]): Value {
  const [first, ...more] = new Set(values)
  if (first === undefined || more.length > 0)
    throw new Error(
      `the methods of ${path} need different gates or hosts, but a proxy selects the gate and the host only by the path`,
    )
  return first
}

/** Returns `ANY` for a route that accepts every method. */
function listMethods(pathRoutes: readonly GuardedRoute[]): string[] {
  const methods = [...new Set(pathRoutes.map(({ method }) => method))].toSorted()
  return methods.length > 10 ? ['ANY'] : methods
}
