// Which gate a request has to pass, by its host, its method and its path as it was sent: the table that `manager
// proxy-config` renders for every proxy, read here without rendering.
import { routes } from '../src/generated/routes.ts'
import { type ProxyRoute, applicationParameter, tenantParameter } from '../src/proxy-config/routes.ts'

export type HostKind = 'application' | 'management'
export type FoundRoute = {
  gate: ProxyRoute['gate']
  /** The ids that the path names, as far as they belong to a host. */
  applicationId: string | null
  tenantId: string | null
}

/** The route of a request; null for none, `reserved` for a path of the service that this host does not have so. */
export function findRoute(kind: HostKind, method: string, path: string): FoundRoute | 'reserved' | null {
  const served = routes.filter(({ served_on }) => served_on === kind)
  for (const route of served) {
    const ids = route.methods.some((one) => one === method || one === 'ANY') ? idsIn(route.path, path) : null
    if (ids !== null) return { gate: route.gate, ...ids }
  }
  return served.some((route) => path.startsWith(fixedStart(route.path))) ? 'reserved' : null
}

const fixedStart = (path: string): string => path.split(/[:*]/, 1)[0] ?? path

/** The ids that a path names; null when it is not of this form. Nothing is decoded: the service gets the same text. */
function idsIn(form: string, path: string): { applicationId: string | null; tenantId: string | null } | null {
  const [wanted, came] = [form.split('/'), path.split('/')]
  const hasRest = wanted.at(-1) === '*'
  if (hasRest ? came.length < wanted.length : came.length !== wanted.length) return null
  const ids = { applicationId: null as string | null, tenantId: null as string | null }
  for (const [index, part] of wanted.entries()) {
    const text = came[index] ?? ''
    if (part === '*') return ids
    if (part.startsWith(':') ? text === '' : text !== part) return null
    if (applicationParameter.test(part)) ids.applicationId = text
    if (tenantParameter.test(part)) ids.tenantId = text
  }
  return ids
}
