// Serves an application frontend behind a proxy: the files in examples/shell, and a page configuration for the user and
// tenant that the proxy sends.
import { once } from 'node:events'
import { type IncomingMessage, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pageHeaders, readShellFile } from '../../tools/demo-files.ts'

export type PageConfig = {
  pilet_signing_keys: unknown
  application: { id: string; name: string }
  tenant: { id: string; name: string }
  user: { name: string }
}
/** The user and tenant that the proxy sends with a request. */
export type Caller = { userId: string; tenantId: string }

/** Starts the host on loopback. `configOf` returns the page configuration of a caller. */
export async function startShellHost(configOf: (caller: Caller) => Promise<PageConfig>) {
  const answer = async ({ url = '/', headers }: IncomingMessage) => {
    const path = url.split('?', 1)[0] ?? '/'
    if (path !== '/page-config.js') return readShellFile(path)
    const caller = { userId: String(headers['x-user-id']), tenantId: String(headers['x-tenant-id']) }
    const config = await configOf(caller)
    return { type: 'text/javascript', content: `window.__SVC__ = ${JSON.stringify({ config })}\n` }
  }
  const server = createServer((request, response) => {
    answer(request)
      .then((file) =>
        file === null
          ? response.writeHead(404).end()
          : response.writeHead(200, { ...pageHeaders, 'content-type': file.type }).end(file.content),
      )
      .catch((error: unknown) => response.writeHead(500).end(String(error)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async (): Promise<void> => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
