// Benchmark baseline: Fastify sends the same response for every URL that matches a route.
//   node bench/bare-constant.ts '{"route": "/a/:b", "status": 200, "headers": {…}, "body": "…"}'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'

export type Constant = { route: string; status: number; headers: Record<string, string>; body: string }

const { route, status, headers, body } = JSON.parse(process.argv[2] ?? '') as Constant
const bytes = Buffer.from(body)
const server = fastify()
server.get(route, (_request, reply) => {
  void reply
    .code(status)
    .headers(headers)
    .send(status === 304 ? undefined : bytes)
})

await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${(server.server.address() as AddressInfo).port}\n`)
