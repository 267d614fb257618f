// Regular expressions that match the host line, method and raw path select the gate that a request must pass. nginx and
// Apache use the same patterns.
import { type ProxyRoute, applicationParameter, tenantParameter } from './routes.ts'

type GatePattern = { pattern: string; gate: ProxyRoute['gate'] | 'none' | 'backend' }

const literalPathPattern = /^[A-Za-z0-9/_-]*$/

/** Returns the patterns in order: the first match decides, and a request without a match has no route. */
export function createGatePatterns(routes: readonly ProxyRoute[]): GatePattern[] {
  const servedRoutes = routes.filter(({ served_on }) => served_on !== 'none')
  const reservedPrefixes = new Set(
    servedRoutes
      .filter(({ served_on }) => served_on === 'application')
      .map(({ path }) => getReservedPrefix(path)),
  )
  return [
    ...servedRoutes.map((route) => ({
      pattern: `^${createHostPattern(route)} ${createMethodsPattern(route)} ${createPathPattern(route)}$`,
      gate: route.gate,
    })),
    // These paths belong to the service but name an application or tenant other than that of the host.
    ...[...reservedPrefixes].map((prefix) => ({
      pattern: `^application \\S+ \\S+ \\S+ \\S+ ${prefix}`,
      gate: 'none' as const,
    })),
    { pattern: '^application \\S+ \\S+ http\\S+ [A-Z]+ /', gate: 'backend' },
  ]
}

// The first two groups capture the ids of the host; the path must contain the same ids.
const createHostPattern = ({ served_on }: ProxyRoute): string =>
  served_on === 'management' ? 'management \\S+ \\S+ \\S+' : 'application (\\S+) (\\S+) \\S+'

const createMethodsPattern = ({ methods }: ProxyRoute): string =>
  methods[0] === 'ANY' ? '[A-Z]+' : `(?:${methods.join('|')})`

function createPathPattern({ path, served_on }: ProxyRoute): string {
  const pathTemplate =
    served_on === 'application'
      ? path.replace(applicationParameter, '\\1').replace(tenantParameter, '\\2')
      : path
  const parts = pathTemplate.split('/').map((part) => {
    if (part === '\\1' || part === '\\2') return part
    if (part === '*') return '.*'
    if (part.startsWith(':')) return '[^/]+'
    if (!literalPathPattern.test(part)) throw new Error(`${path} cannot be expressed as a proxy pattern`)
    return part
  })
  return parts.join('/')
}

const getReservedPrefix = (path: string): string => path.slice(0, path.indexOf(':'))
