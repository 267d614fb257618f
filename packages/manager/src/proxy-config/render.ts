// The renderers stream the configuration of a proxy in one format. The same database yields the same bytes.
import { routes } from '../generated/routes.ts'
import { renderApacheHost, renderApacheRoutes, renderApacheStart } from './apache.ts'
import { renderNginxHost, nginxHostsEnd, renderNginxRoutes, renderNginxStart } from './nginx.ts'
import type { RenderedStart } from './host-lines.ts'
import { format, minProxyVersion, release } from './release.ts'
import type { VirtualHost } from './virtual-hosts.ts'

export const outputFormats = ['json', 'nginx', 'apache'] as const
export type OutputFormat = (typeof outputFormats)[number]
type Hosts = AsyncIterable<VirtualHost>

const blockLength = 65_536

/** Yields the text in large blocks: one write per host would dominate the run time. */
export async function* render(
  form: OutputFormat,
  managementHost: string | null,
  hosts: Hosts,
): AsyncGenerator<string, void, void> {
  let block = ''
  for await (const piece of renderers[form](managementHost, hosts)) {
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

/** Renders a file that a proxy includes. deploy/proxy/apply uses the last line to detect a truncated file. */
const renderIncluded = (parts: {
  start: (start: RenderedStart) => string
  host: (host: VirtualHost) => string
  end: string
}) =>
  async function* (managementHost: string | null, hosts: Hosts): AsyncGenerator<string, void, void> {
    yield parts.start({ format, release, minProxyVersion, managementHost })
    let count = 0
    for await (const host of hosts) {
      count++
      yield parts.host(host)
    }
    yield `${parts.end}# complete: ${count} hosts\n`
  }

const renderers: Record<OutputFormat, typeof renderJson> = {
  json: renderJson,
  nginx: renderIncluded({
    start: renderNginxStart,
    host: renderNginxHost,
    end: nginxHostsEnd + renderNginxRoutes(routes),
  }),
  apache: renderIncluded({
    start: renderApacheStart,
    host: renderApacheHost,
    end: renderApacheRoutes(routes),
  }),
}
