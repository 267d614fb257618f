// The engine run bare: Fastify sending the same bytes for every address below /api/frontend-config.
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'

const [body = ''] = process.argv.slice(2)
const bytes = Buffer.from(body)
const server = fastify()
server.get('/api/frontend-config/:application_id/:tenant_id', (_request, reply) => {
  void reply.header('content-type', 'application/json; charset=utf-8').send(bytes)
})

await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${(server.server.address() as AddressInfo).port}\n`)
