// Benchmark baseline: a proxy built on node:http and undici, without authentication, logging or limits. With
// `template`, it reads, parses and serializes the body.
//   node bench/bare-proxy.ts <upstream url> [template]
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

const [upstream = '', kind] = process.argv.slice(2)
const pool = new Pool(upstream, { connections: 256 })

const server = createServer((request, response) => {
  if (kind !== 'template') return forward(request, response, request.method === 'GET' ? null : request)
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () =>
    forward(request, response, JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))),
  )
})

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | IncomingMessage | null,
): void {
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
  pool.dispatch(
    { path: '/target', method: request.method as 'GET', headers, body },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, status, { connection: _hop, 'keep-alive': _hop2, ...passed }) =>
        void response.writeHead(status, passed),
      onResponseData: (_controller, chunk) => void response.write(chunk),
      onResponseEnd: () => void response.end(),
      onResponseError: () => void response.destroy(),
    },
  )
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
