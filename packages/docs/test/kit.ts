// Serves the built site from its folder, and opens a browser that reports every cross-origin request.
import { readFile } from 'node:fs/promises'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { type Browser, type Page, chromium } from 'playwright-core'
import { ensureChromium } from '@manager/harness/engines/install.ts'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** Serves the files of a folder on loopback. */
export async function serveFolder(folder: string): Promise<{ url: string; close: () => void }> {
  const server: Server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname))
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path)
    readFile(file).then(
      (bytes) => response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(bytes),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, close: () => void server.close() }
}

/** Opens a page and collects its problems: requests to other origins, failed requests, policy violations and errors. */
export async function openPage(url: string, options: { isDark?: boolean; width?: number } = {}) {
  const browser: Browser = await chromium.launch({ executablePath: ensureChromium(), args: ['--no-sandbox'] })
  const page: Page = await browser.newPage({
    colorScheme: options.isDark === true ? 'dark' : 'light',
    viewport: { width: options.width ?? 1280, height: 900 },
  })
  const problems: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:'))
      problems.push(`leaves: ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  return { page, problems, close: () => browser.close() }
}
