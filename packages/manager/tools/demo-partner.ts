// The demo partner stands in for a third-party service that knows the stock. It requires a token that the backend never
// sees; the ESB adds the token.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { listen } from './demo-forward.ts'

const full = 40

/** Starts the partner on a free loopback port. */
export async function startPartner() {
  const token = randomBytes(16).toString('hex')
  const stock = new Map<string, number>()
  const server = createServer((request, response) => {
    const send = (status: number, body: object): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.headers.authorization !== `Bearer ${token}`)
      return send(401, { error: 'missing or invalid token' })
    const answer = async (): Promise<unknown> => {
      const { tenant } = (await json(request)) as { tenant: string }
      const before = stock.get(tenant) ?? full
      const left = before > 3 ? before - 1 - Math.floor(3 * Math.random()) : full
      stock.set(tenant, left)
      return send(200, { left })
    }
    return answer().catch(() => send(400, { error: 'send JSON with a tenant' }))
  })
  const { port, close } = await listen(server, 0)
  return { url: `http://127.0.0.1:${port}/stock`, token, close }
}
