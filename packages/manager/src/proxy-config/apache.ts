// What the Apache of deploy/proxy/apache includes: a virtual host for each host, and the gate of a request. The rules stand
// once, outside of the hosts; each host says what it is in a variable that they read.
import { gatePatterns } from './gate-patterns.ts'
import { type RenderedStart, hostLine, managementLine, startLines } from './host-lines.ts'
import type { ProxyRoute } from './routes.ts'
import type { VirtualHost } from './virtual-hosts.ts'

/** The first lines, for whoever applies the file, and the host of the Manager itself. */
export const apacheStart = (of: RenderedStart): string =>
  [
    ...startLines(of),
    '',
    ...(of.managementHost === null ? [] : [named(of.managementHost, managementLine)]),
  ].join('\n')

/** One host of an application. */
export const apacheHost = (host: VirtualHost): string => named(host.host, hostLine(host))

// AllowEncodedSlashes and RewriteEngine are not inherited by every release.
const named = (host: string, line: string): string => `<VirtualHost *:*>
  ServerName ${host}
  SetEnvIf Request_Method "^" "svc_host=${line}"
  AllowEncodedSlashes NoDecode
  RewriteEngine On
</VirtualHost>
`

/** The gate of a request by its host, method and path; the first rule that fits skips the others. */
export function apacheRoutes(routes: readonly ProxyRoute[]): string {
  const patterns = gatePatterns(routes)
  const rules = patterns.map(({ pattern, gate }, at) => {
    const skip = patterns.length - at - 1
    const flags = `${gate === 'none' ? '' : `E=svc_gate:${gate},`}S=${skip}`
    return `RewriteCond "%{ENV:svc_host} %{REQUEST_METHOD} %{ENV:svc_path}" "${pattern}"\nRewriteRule ^ - [${flags}]\n`
  })
  return rules.join('')
}
