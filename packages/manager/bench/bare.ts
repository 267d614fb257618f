// Benchmark baseline: Fastify with JSON and one prepared SELECT that uses an index, without a gate, logging or a
// policy. The benchmark measures the additional cost of the service.
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyRequest } from 'fastify'
import { Pool } from 'pg'

const [databaseUrl = ''] = process.argv.slice(2)
const pool = new Pool({ connectionString: databaseUrl, max: 10 })
const server = fastify()

const text = `select t.id, t.hash, t.revoked, t.expires_at, u.id as user_id, u.external_name, u.external_email
  from personal_access_tokens t join users u on u.id = t.user_id where t.token_prefix = $1`

const validate = async (request: FastifyRequest) => {
  const { authorization_header } = request.body as { authorization_header: string }
  const values = [authorization_header.slice(11, 19)]
  const { rows } = await pool.query<Record<string, string>>({ name: 'bare', text, values })
  const [row] = rows
  return {
    valid: row !== undefined,
    user: { id: row?.['user_id'], email: row?.['external_email'], name: row?.['external_name'] },
    tenant: null,
    application: { has_access: true, role: 'normal', available_tenants: [] },
  }
}
server.route({ method: 'POST', url: '/api/validate-proxy-auth', handler: validate })

await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${(server.server.address() as AddressInfo).port}\n`)
