// What the nginx of deploy/proxy/nginx includes: which hosts there are, and which gate a request has to pass. It goes by the
// path as it was sent, which is also what the service gets: what nginx decodes could mean something else to the two.
import { type ProxyRoute, applicationParameter, tenantParameter } from './routes.ts'
import type { VirtualHost } from './virtual-hosts.ts'

const literalPath = /^[a-z0-9/_-]*$/

/** The first lines, for whoever applies the file, and the beginning of the table of hosts. */
export function nginxStart(of: {
  format: number
  release: string
  minProxyVersion: string
  managementHost: string | null
}): string {
  return [
    '# Rendered by `manager proxy-config`; do not edit.',
    `# format: ${of.format}`,
    `# release: ${of.release}`,
    `# min_proxy_version: ${of.minProxyVersion}`,
    '# Host: what it is for, its application, its tenant, its backend.',
    'map $host $svc_host {',
    '  default "";',
    ...(of.managementHost === null ? [] : [`  ${of.managementHost} "management - - -";`]),
    '',
  ].join('\n')
}

/** One line of the table of hosts. */
export const nginxHost = ({ host, application, tenant, backend = '-' }: VirtualHost): string =>
  `  ${host} "application ${application.id} ${tenant?.id ?? '-'} ${backend}";\n`

export const nginxHostsEnd = '}\n'

/** The gate of a request by its host, method and path; the first line that fits decides. */
export function nginxRoutes(routes: readonly ProxyRoute[]): string {
  const served = routes.filter(({ served_on }) => served_on !== 'none')
  const reserved = new Set(
    served.filter(({ served_on }) => served_on === 'application').map(({ path }) => reservedPrefix(path)),
  )
  return [
    'map "$svc_host $request_method $svc_path" $svc_gate {',
    '  default none;',
    ...served.map(
      (route) => `  "~^${hostForm(route)} ${methodsForm(route)} ${pathForm(route)}$" ${route.gate};`,
    ),
    // A path of the service, but with another application or tenant than those of the host.
    ...[...reserved].map((prefix) => `  "~^application \\S+ \\S+ \\S+ \\S+ ${prefix}" none;`),
    '  "~^application \\S+ \\S+ http" backend;',
    '}',
    '',
  ].join('\n')
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
    if (!literalPath.test(part)) throw new Error(`${path} cannot be written as a pattern of nginx`)
    return part
  })
  return parts.join('/')
}

const reservedPrefix = (path: string): string => path.slice(0, path.indexOf(':'))
