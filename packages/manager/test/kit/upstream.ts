// The upstream that the gateway calls: a real HTTP server on loopback that records requests and responds as configured.
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

type Received = {
  method: string
  /** The request target as received. */
  url: string
  headers: IncomingMessage['headers']
  /** Header names and values in one flat list, as received. */
  rawHeaders: string[]
  body: Buffer
}
type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

export type Upstream = {
  url: string
  port: number
  /** Complete requests in order of arrival. */
  received: Received[]
  /** Currently open connections. */
  sockets: Set<Socket>
  /** Sets the response to the following requests. It is sent when the request body is complete. */
  answer: (how: Answer) => void
  /** Sets a handler that runs before bodies are read; null reverts to `answer`. */
  handle: (how: ((request: IncomingMessage, response: ServerResponse) => void) | null) => void
  /** Clears the recorded requests and restores the default 200 response. */
  reset: () => void
  close(): Promise<void>
}

const accepted: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end('{"accepted":true}')
}

/** Starts an upstream that returns 200 until configured otherwise. */
export async function startUpstream(): Promise<Upstream> {
  let [answer, handle]: [Answer, ((request: IncomingMessage, response: ServerResponse) => void) | null] = [
    accepted,
    null,
  ]
  const received: Received[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    if (handle !== null) return handle(request, response)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const { method = '', url = '', headers, rawHeaders } = request
      received.push({ method, url, headers, rawHeaders, body })
      answer(request, response, body)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    sockets,
    answer: (how) => void (answer = how),
    handle: (how) => void (handle = how),
    reset: () => {
      received.length = 0
      ;[answer, handle] = [accepted, null]
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
