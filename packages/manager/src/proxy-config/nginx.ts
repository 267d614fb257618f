// deploy/proxy/nginx includes this output: the hosts, and the gate that each request must pass. The gate depends on the
// raw path, which the service also receives. nginx and the service could interpret a decoded path differently.
import { gatePatterns } from './gate-patterns.ts'
import { type RenderedStart, hostLine, managementLine, startLines } from './host-lines.ts'
import type { ProxyRoute } from './routes.ts'
import type { VirtualHost } from './virtual-hosts.ts'

/** Returns the header lines, which deploy/proxy/apply reads, and the start of the host table. */
export const nginxStart = (of: RenderedStart): string =>
  [
    ...startLines(of),
    'map $host $svc_host {',
    '  default "";',
    ...(of.managementHost === null ? [] : [`  ${of.managementHost} "${managementLine}";`]),
    '',
  ].join('\n')

/** Returns one line of the host table. */
export const nginxHost = (host: VirtualHost): string => `  ${host.host} "${hostLine(host)}";\n`

export const nginxHostsEnd = '}\n'

/** Returns the nginx map that assigns a gate to host, method and path; the first match decides. */
export const nginxRoutes = (routes: readonly ProxyRoute[]): string =>
  [
    'map "$svc_host $request_method $svc_path" $svc_gate {',
    '  default none;',
    ...gatePatterns(routes).map(({ pattern, gate }) => `  "~${pattern}" ${gate};`),
    '}',
    '',
  ].join('\n')
