// The configuration of a proxy in one of its forms, piece by piece. The same database gives the same bytes.
import { routes } from '../generated/routes.ts'
import { nginxHost, nginxHostsEnd, nginxRoutes, nginxStart } from './nginx.ts'
import { format, minProxyVersion, release } from './release.ts'
import type { VirtualHost } from './virtual-hosts.ts'

export type Form = 'json' | 'nginx'
type Hosts = AsyncIterable<VirtualHost>

const blockLength = 65_536

/** The text in blocks: a write for each host would be most of the work. */
export async function* render(
  form: Form,
  managementHost: string | null,
  hosts: Hosts,
): AsyncGenerator<string, void, void> {
  let block = ''
  for await (const piece of (form === 'json' ? renderJson : renderNginx)(managementHost, hosts)) {
    block += piece
    if (block.length < blockLength) continue
    yield block
    block = ''
  }
  yield block
}

async function* renderJson(managementHost: string | null, hosts: Hosts): AsyncGenerator<string, void, void> {
  const start = { format, release, min_proxy_version: minProxyVersion, management_host: managementHost }
  const lines = Object.entries(start).map(([key, value]) => `  "${key}": ${JSON.stringify(value)},`)
  yield `{\n${lines.join('\n')}\n  "routes": [\n`
  yield routes.map((route) => `    ${JSON.stringify(route)}`).join(',\n')
  yield '\n  ],\n  "hosts": ['
  let count = 0
  for await (const host of hosts) yield `${count++ === 0 ? '' : ','}\n    ${JSON.stringify(host)}`
  yield `${count === 0 ? '' : '\n  '}],\n  "host_count": ${count}\n}\n`
}

async function* renderNginx(managementHost: string | null, hosts: Hosts): AsyncGenerator<string, void, void> {
  yield nginxStart({ format, release, minProxyVersion, managementHost })
  let count = 0
  for await (const host of hosts) {
    count++
    yield nginxHost(host)
  }
  yield nginxHostsEnd
  yield nginxRoutes(routes)
  // Whoever applies the file sees by its last line that nothing is missing.
  yield `# complete: ${count} hosts\n`
}
