// deploy/proxy/apache includes this output: one virtual host per host, and the rules that select the gate of a request.
// The rules exist only once, outside the virtual hosts. Each virtual host describes itself in a variable that the rules
// read.
import { createGatePatterns } from './gate-patterns.ts'
import { type RenderedStart, formatHostLine, managementLine, createStartLines } from './host-lines.ts'
import type { ProxyRoute } from './routes.ts'
import type { VirtualHost } from './virtual-hosts.ts'

/** Returns the header lines, which deploy/proxy/apply reads, and the virtual host of the Manager itself. */
export const renderApacheStart = (start: RenderedStart): string =>
  [
    ...createStartLines(start),
    '',
    ...(start.managementHost === null ? [] : [renderVirtualHost(start.managementHost, managementLine)]),
  ].join('\n')

/** Returns the virtual host of one application host. */
export const renderApacheHost = (host: VirtualHost): string =>
  renderVirtualHost(host.host, formatHostLine(host))

// Not every Apache release inherits AllowEncodedSlashes and RewriteEngine from the main server.
const renderVirtualHost = (host: string, line: string): string => `<VirtualHost *:*>
  ServerName ${host}
  SetEnvIf Request_Method "^" "svc_host=${line}"
  AllowEncodedSlashes NoDecode
  RewriteEngine On
</VirtualHost>
`

/** Returns the rules that select the gate by host, method and path; the first match skips the others. */
export function renderApacheRoutes(routes: readonly ProxyRoute[]): string {
  const patterns = createGatePatterns(routes)
  const rules = patterns.map(({ pattern, gate }, at) => {
    const skip = patterns.length - at - 1
    const flags = `${gate === 'none' ? '' : `E=svc_gate:${gate},`}S=${skip}`
    return `RewriteCond "%{ENV:svc_host} %{REQUEST_METHOD} %{ENV:svc_path}" "${pattern}"\nRewriteRule ^ - [${flags}]\n`
  })
  return rules.join('')
}
