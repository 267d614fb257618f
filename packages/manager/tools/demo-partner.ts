// The demo partner stands in for a third-party service: a warehouse that knows the stock of each customer and reserves
// tulips for orders. It requires a token that the ESB adds and the backends never see.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { listen } from './demo-forward.ts'

/** The stock of each customer at the start. */
export const fullStock = 40
const firstOrder = 7_200

type Reply = { status: number; body: object }

/** Starts the partner on a free loopback port. */
export async function startPartner() {
  const token = randomBytes(16).toString('hex')
  const respond = createWarehouse()
  const server = createServer((request, response) => {
    const send = ({ status, body }: Reply): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.headers.authorization !== `Bearer ${token}`)
      return send({ status: 401, body: { error: 'missing or invalid token' } })
    const answer = async (): Promise<unknown> => send(respond(request.url ?? '/', await json(request)))
    return answer().catch(() => send({ status: 400, body: { error: 'send JSON with a tenant' } }))
  })
  const { port, close } = await listen(server, 0)
  return { url: `http://127.0.0.1:${port}`, token, close }
}

/** Returns a function that handles requests. The stock changes with each query, as if other customers had ordered. */
function createWarehouse() {
  const stock = new Map<string, number>()
  let orders = firstOrder
  const count = (tenant: string): number => {
    const previousStock = stock.get(tenant) ?? fullStock
    const left = previousStock > 3 ? previousStock - 1 - Math.floor(3 * Math.random()) : fullStock
    stock.set(tenant, left)
    return left
  }
  const order = (tenant: string, wanted: number): Reply => {
    const previousStock = stock.get(tenant) ?? fullStock
    if (!Number.isInteger(wanted) || wanted < 1)
      return { status: 400, body: { error: 'count must be positive' } }
    if (wanted > previousStock)
      return { status: 409, body: { error: 'not enough tulips', left: previousStock } }
    stock.set(tenant, previousStock - wanted)
    orders += 1
    return { status: 200, body: { order: `T-${orders}`, left: previousStock - wanted } }
  }
  return (path: string, input: unknown): Reply => {
    const { tenant, count: wanted } = input as { tenant: string; count?: number }
    if (path === '/orders') return order(tenant, Number(wanted))
    return path === '/stock'
      ? { status: 200, body: { left: count(tenant) } }
      : { status: 404, body: { error: 'no such path' } }
  }
}
