// What the nginx of deploy/proxy/nginx includes: which hosts there are, and which gate a request has to pass. It goes by the
// path as it was sent, which is also what the service gets: what nginx decodes could mean something else to the two.
import { gatePatterns } from './gate-patterns.ts'
import { type RenderedStart, hostLine, managementLine, startLines } from './host-lines.ts'
import type { ProxyRoute } from './routes.ts'
import type { VirtualHost } from './virtual-hosts.ts'

/** The first lines, for whoever applies the file, and the beginning of the table of hosts. */
export const nginxStart = (of: RenderedStart): string =>
  [
    ...startLines(of),
    'map $host $svc_host {',
    '  default "";',
    ...(of.managementHost === null ? [] : [`  ${of.managementHost} "${managementLine}";`]),
    '',
  ].join('\n')

/** One line of the table of hosts. */
export const nginxHost = (host: VirtualHost): string => `  ${host.host} "${hostLine(host)}";\n`

export const nginxHostsEnd = '}\n'

/** The gate of a request by its host, method and path; the first line that fits decides. */
export const nginxRoutes = (routes: readonly ProxyRoute[]): string =>
  [
    'map "$svc_host $request_method $svc_path" $svc_gate {',
    '  default none;',
    ...gatePatterns(routes).map(({ pattern, gate }) => `  "~${pattern}" ${gate};`),
    '}',
    '',
  ].join('\n')
