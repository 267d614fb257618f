// The gate that a request has to pass, by its host, its method and its path as it was sent: the table that `manager
// proxy-config` renders for every proxy, read here without rendering.
import { routes } from '../src/generated/routes.ts'
import { type ProxyRoute, applicationParameter, tenantParameter } from '../src/proxy-config/routes.ts'

export type HostKind = 'application' | 'management'
/** A route, with the ids in the path that belong to a host. */
export type FoundRoute = { gate: ProxyRoute['gate']; applicationId?: string; tenantId?: string }

// Nothing is decoded: the service gets the same text.
const patternOf = (part: string): string => {
  if (part === '*') return '.*'
  if (applicationParameter.test(part)) return '(?<applicationId>[^/]+)'
  if (tenantParameter.test(part)) return '(?<tenantId>[^/]+)'
  return part.startsWith(':') ? '[^/]+' : part.replaceAll('.', String.raw`\.`)
}
const table = routes.map((route) => ({
  ...route,
  pattern: new RegExp(`^${route.path.split('/').map(patternOf).join('/')}$`),
  fixedStart: route.path.split(/[:*]/, 1)[0] ?? '',
}))

/** The route of a request; null for none, `reserved` for a path of the service that this host does not have so. */
export function findRoute(kind: HostKind, method: string, path: string): FoundRoute | 'reserved' | null {
  const served = table.filter(({ served_on }) => served_on === kind)
  for (const { methods, pattern, gate } of served) {
    const found = methods.some((one) => one === method || one === 'ANY') ? pattern.exec(path) : null
    if (found !== null) return { gate, ...found.groups }
  }
  return served.some(({ fixedStart }) => path.startsWith(fixedStart)) ? 'reserved' : null
}
