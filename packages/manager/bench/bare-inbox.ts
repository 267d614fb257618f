// Benchmark baseline: Node's HTTP server runs the inbox statement on as many connections as the service uses for it,
// without a gate, logging or a policy.
//   node bench/bare-inbox.ts <database url> <connections> <lists of statement values, used in rotation, as JSON>
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'pg'
import { pages } from '../src/features/inbox/inbox.store.ts'
import { lookupSettings } from '../src/platform/postgres/pools.ts'

const [connectionString = '', connections = '', values = ''] = process.argv.slice(2)
const pool = new Pool({ connectionString, max: Number(connections), options: lookupSettings })
const valueLists = JSON.parse(values) as unknown[][]
let requestCount = 0

const sendPage = async (response: ServerResponse): Promise<void> => {
  const { rows } = await pool.query({ ...pages.all, values: valueLists[requestCount++ % valueLists.length] })
  const page = { notifications: rows.slice(0, 20), next_cursor: null, has_more: rows.length > 20 }
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(page))
}
const server = createServer((_request, response) => void sendPage(response))
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
