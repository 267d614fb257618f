// Which gate a request has to pass, by a regular expression over the line of its host, its method and its path as it was sent.
// nginx and Apache read the same ones.
import { type ProxyRoute, applicationParameter, tenantParameter } from './routes.ts'

type GatePattern = { pattern: string; gate: ProxyRoute['gate'] | 'none' | 'backend' }

const literalPath = /^[a-z0-9/_-]*$/

/** The patterns in their order: the first one that fits decides, and what fits none has no route. */
export function gatePatterns(routes: readonly ProxyRoute[]): GatePattern[] {
  const served = routes.filter(({ served_on }) => served_on !== 'none')
  const reserved = new Set(
    served.filter(({ served_on }) => served_on === 'application').map(({ path }) => reservedPrefix(path)),
  )
  return [
    ...served.map((route) => ({
      pattern: `^${hostForm(route)} ${methodsForm(route)} ${pathForm(route)}$`,
      gate: route.gate,
    })),
    // A path of the service, but with another application or tenant than those of the host.
    ...[...reserved].map((prefix) => ({
      pattern: `^application \\S+ \\S+ \\S+ \\S+ ${prefix}`,
      gate: 'none' as const,
    })),
    { pattern: '^application \\S+ \\S+ http\\S+ [A-Z]+ /', gate: 'backend' },
  ]
}

// The ids of the host are the first two groups; a path must have the same.
const hostForm = ({ served_on }: ProxyRoute): string =>
  served_on === 'management' ? 'management \\S+ \\S+ \\S+' : 'application (\\S+) (\\S+) \\S+'

const methodsForm = ({ methods }: ProxyRoute): string =>
  methods[0] === 'ANY' ? '[A-Z]+' : `(?:${methods.join('|')})`

function pathForm({ path, served_on }: ProxyRoute): string {
  const own =
    served_on === 'application'
      ? path.replace(applicationParameter, '\\1').replace(tenantParameter, '\\2')
      : path
  const parts = own.split('/').map((part) => {
    if (part === '\\1' || part === '\\2') return part
    if (part === '*') return '.+'
    if (part.startsWith(':')) return '[^/]+'
    if (!literalPath.test(part)) throw new Error(`${path} cannot be written as a pattern of a proxy`)
    return part
  })
  return parts.join('/')
}

const reservedPrefix = (path: string): string => path.slice(0, path.indexOf(':'))
