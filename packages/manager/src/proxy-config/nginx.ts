// deploy/proxy/nginx includes this output: the hosts, and the gate that each request must pass. The gate depends on the
// raw path, which the service also receives. nginx and the service could interpret a decoded path differently.
import { createGatePatterns } from './gate-patterns.ts'
import { type RenderedStart, formatHostLine, managementLine, createStartLines } from './host-lines.ts'
import type { ProxyRoute } from './routes.ts'
import type { VirtualHost } from './virtual-hosts.ts'

/** Returns the header lines, which deploy/proxy/apply reads, and the start of the host table. */
export const renderNginxStart = (start: RenderedStart): string =>
  [
    ...createStartLines(start),
    'map $host $svc_host {',
    '  default "";',
    ...(start.managementHost === null ? [] : [`  ${start.managementHost} "${managementLine}";`]),
    '',
  ].join('\n')

/** Returns one line of the host table. */
export const renderNginxHost = (host: VirtualHost): string => `  ${host.host} "${formatHostLine(host)}";\n`

export const nginxHostsEnd = '}\n'

/** Returns the nginx map from host, method and path to a gate; the first match decides. */
export const renderNginxRoutes = (routes: readonly ProxyRoute[]): string =>
  [
    'map "$svc_host $request_method $svc_path" $svc_gate {',
    '  default none;',
    ...createGatePatterns(routes).map(({ pattern, gate }) => `  "~${pattern}" ${gate};`),
    '}',
    '',
  ].join('\n')
