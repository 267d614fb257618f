// Finds the gate for a request by host, method and raw path. It uses the same table that `manager proxy-config` renders
// for every proxy.
import { routes } from '../src/generated/routes.ts'
import { type ProxyRoute, applicationParameter, tenantParameter } from '../src/proxy-config/routes.ts'

export type HostKind = 'application' | 'management'
/** The gate of a route, and the ids in the path, which must belong to the host. */
export type FoundRoute = { gate: ProxyRoute['gate']; applicationId?: string; tenantId?: string }

// The path is matched without decoding, because the service receives the same raw path.
const toPattern = (part: string): string => {
  if (part === '*') return '.*'
  if (applicationParameter.test(part)) return '(?<applicationId>[^/]+)'
  if (tenantParameter.test(part)) return '(?<tenantId>[^/]+)'
  return part.startsWith(':') ? '[^/]+' : part.replaceAll('.', String.raw`\.`)
}
const table = routes.map((route) => ({
  ...route,
  pattern: new RegExp(`^${route.path.split('/').map(toPattern).join('/')}$`),
  fixedStart: route.path.split(/[:*]/, 1)[0] ?? '',
}))

/**
 * Returns the route of a request. Returns `reserved` for any other path below a prefix of the service, and null
 * otherwise.
 */
export function findRoute(kind: HostKind, method: string, path: string): FoundRoute | 'reserved' | null {
  const hostRoutes = table.filter(({ served_on }) => served_on === kind)
  for (const { methods, pattern, gate } of hostRoutes) {
    const match = methods.some((one) => one === method || one === 'ANY') ? pattern.exec(path) : null
    if (match !== null) return { gate, ...match.groups }
  }
  return hostRoutes.some(({ fixedStart }) => path.startsWith(fixedStart)) ? 'reserved' : null
}
