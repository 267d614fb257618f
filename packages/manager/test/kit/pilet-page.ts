// Serves a page that loads pilets through a proxy. The proxy serves the page and the loader, and adds the secret to
// requests to the Manager. It can modify responses, as an attacker would.
import { readFileSync } from 'node:fs'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { type Browser, chromium } from 'playwright-core'
import { ensureChromium } from '@manager/harness/engines/install.ts'
import { proxySecret } from '@manager/harness/callers.ts'

/** A response in transit to the browser. */
export type Passing = { path: string; status: number; headers: Record<string, string>; body: Buffer }
export type PiletProxy = {
  url: string
  /** Modifies all following responses. */
  change: (changed: (passing: Passing) => Passing) => void
  close: () => Promise<void>
}

const loader = readFileSync(new URL('../../../../examples/pilet-loader.mjs', import.meta.url))
const contentSecurityPolicy = "default-src 'none'; script-src 'self' 'nonce-page' blob:; connect-src 'self'"

/** Returns a page that loads the feed, shows the output of its pilets, and then the results. */
const pageOf = (feed: string, keys: Record<string, string>): string => `<!doctype html>
<title>page</title>
<ul></ul>
<script nonce="page">window.__SVC__ = ${JSON.stringify({ config: { pilet_signing_keys: keys } })}</script>
<script nonce="page" type="module">
  import { loadPilets } from '/pilet-loader.mjs'
  const show = (text) => document.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: text }))
  const results = await loadPilets('${feed}', window.__SVC__.config.pilet_signing_keys, { show })
  document.body.append(Object.assign(document.createElement('output'), { textContent: JSON.stringify(results) }))
</script>`

/** Starts the proxy. `keys` returns the keys that the page trusts, and is called for each request for the page. */
export async function startPiletProxy(
  manager: string,
  feed: string,
  keys: () => Record<string, string>,
): Promise<PiletProxy> {
  let changed = (passing: Passing): Passing => passing
  const pass = async (path: string): Promise<Passing> => {
    if (path === '/') {
      const headers = { 'content-type': 'text/html', 'content-security-policy': contentSecurityPolicy }
      return { path, status: 200, headers, body: Buffer.from(pageOf(feed, keys())) }
    }
    if (path === '/pilet-loader.mjs')
      return { path, status: 200, headers: { 'content-type': 'text/javascript' }, body: loader }
    const isOurs = path.startsWith('/pilet-feed/') || path.startsWith('/pilet-bundle/')
    if (!isOurs) return { path, status: 404, headers: {}, body: Buffer.alloc(0) }
    const answer = await fetch(manager + path, { headers: { 'x-proxy-auth': proxySecret } })
    const body = Buffer.from(await answer.arrayBuffer())
    const { 'transfer-encoding': _, connection: __, ...headers } = Object.fromEntries(answer.headers)
    return changed({ path, status: answer.status, headers, body })
  }
  const send = async (path: string, response: ServerResponse): Promise<void> => {
    const { status, headers, body } = await pass(path)
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(body)
  }
  const server = createServer((request, response) => {
    send(request.url ?? '', response).catch(() => response.writeHead(502).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    change: (next) => {
      changed = next
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Launches a browser that makes no background requests. */
export function launchBrowser(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  return chromium.launch({ executablePath: ensureChromium(), args })
}

/** Opens the page of a proxy. Returns the output of its pilets and the loader's result for each pilet. */
export async function openPiletPage(browser: Browser, { url }: PiletProxy) {
  const page = await browser.newPage()
  await page.goto(url)
  const results = JSON.parse(
    (await page.locator('output').textContent({ timeout: 120_000 })) ?? '',
  ) as unknown
  const shown = await page.locator('li').allTextContents()
  const title = await page.title()
  await page.close()
  return { results, shown: shown.toSorted(), title }
}
