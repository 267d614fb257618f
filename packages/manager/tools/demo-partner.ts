// The partner of the demo: a service of somebody else that knows what is in stock. It wants a token that the backend never
// sees; the ESB adds it.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const full = 40

/** Starts it on a free port of loopback. */
export async function startPartner() {
  const token = randomBytes(16).toString('hex')
  const stock = new Map<string, number>()
  const answer = async (request: IncomingMessage): Promise<[number, object]> => {
    if (request.headers.authorization !== `Bearer ${token}`) return [401, { error: 'who are you?' }]
    const { tenant } = JSON.parse(await text(request)) as { tenant: string }
    const before = stock.get(tenant) ?? full
    const left = before > 3 ? before - 1 - Math.floor(3 * Math.random()) : full
    stock.set(tenant, left)
    return [200, { left }]
  }
  const server = createServer((request, response) => {
    answer(request)
      .catch((): [number, object] => [400, { error: 'send JSON with a tenant' }])
      .then(([status, body]) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      )
      .catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/stock`,
    token,
    close: async (): Promise<void> => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
