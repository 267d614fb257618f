// The demo partner stands in for a third-party service that reports stock levels. It requires a token that
// the ESB adds and the backend never sees.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { listen } from './demo-forward.ts'

const fullStock = 40

/** Starts the partner on a free loopback port. */
export async function startPartner() {
  const token = randomBytes(16).toString('hex')
  const stock = new Map<string, number>()
  const server = createServer((request, response) => {
    const send = (status: number, body: object): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.headers.authorization !== `Bearer ${token}`)
      return send(401, { error: 'missing or invalid token' })
    const respond = async (): Promise<unknown> => {
      const { tenant } = (await json(request)) as { tenant: string }
      const previousStock = stock.get(tenant) ?? fullStock
      const remainingStock = previousStock > 3 ? previousStock - 1 - Math.floor(3 * Math.random()) : fullStock
      stock.set(tenant, remainingStock)
      return send(200, { left: remainingStock })
    }
    return respond().catch(() => send(400, { error: 'send JSON with a tenant' }))
  })
  const { port, close } = await listen(server, 0)
  return { url: `http://127.0.0.1:${port}/stock`, token, close }
}
