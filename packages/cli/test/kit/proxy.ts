// A minimal proxy in front of the service: it adds the shared secret and forwards everything.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { proxySecret } from '@manager/harness/callers.ts'

export type Proxy = {
  url: string
  requests: string[]
  /** The bodies of GraphQL requests. */
  documents: string[]
  close: () => Promise<void>
}

/**
 * Calls `intercept` before each request. If `intercept` returns a status, the proxy returns that status instead of
 * forwarding.
 */
export async function startProxy(
  managerUrl: string,
  intercept: (call: string) => Promise<void> | number | void = () => undefined,
): Promise<Proxy> {
  const [requests, documents]: [string[], string[]] = [[], []]
  const server = createServer((incoming, response) => {
    const call = `${incoming.method} ${incoming.url}`
    requests.push(call)
    const forward = (status: number | void): void => {
      const outgoing = request(
        managerUrl + incoming.url,
        { method: incoming.method, headers: { ...incoming.headers, 'x-proxy-auth': proxySecret } },
        (answer) => {
          if (status === undefined) {
            response.writeHead(answer.statusCode ?? 502, answer.headers)
            answer.pipe(response)
          } else answer.resume().once('end', () => response.writeHead(status).end())
        },
      )
      outgoing.on('error', () => response.destroy())
      if (call === 'POST /query') {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.once('end', () => documents.push(Buffer.concat(chunks).toString()))
      }
      incoming.pipe(outgoing)
    }
    void Promise.resolve(intercept(call)).then(forward)
  }).listen(0, '127.0.0.1')
  // The service announces 72 s, and its headers are passed on. With Node's 5 s, a client that believes them could send a
  // request on a connection that closes.
  server.keepAliveTimeout = 75_000
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    documents,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
