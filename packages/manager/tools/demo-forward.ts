// Forwards requests to the Manager with headers that the proxy vouches for, and removes forged headers from clients.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'

/** Headers that only a proxy may set, and the session cookie, which only the proxy may see. */
const ownNames =
  /^(?:x-proxy-|x-token-|x-forwarded-|forwarded$|x-user-id$|x-tenant-id$|x-select-tenant$|x-request-id$|traceparent$|tracestate$|cookie$|authorization$)/
/** Hop-by-hop headers, which belong to one connection. */
const hopNames =
  /^(?:connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|trailer|upgrade)$/

export type Vouched = Record<string, string>
type Forward = { port: number; vouched: Vouched }

function start(request: http.IncomingMessage, { port, vouched }: Forward, more: Vouched = {}) {
  const { headers, socket, method, url: path } = request
  const kept = Object.entries(headers).filter(([name]) => !ownNames.test(name) && !hopNames.test(name))
  const from = { 'x-forwarded-for': socket.remoteAddress ?? '', 'x-forwarded-host': headers.host ?? '' }
  const sent = { ...Object.fromEntries(kept), ...from, 'x-forwarded-proto': 'http', ...vouched, ...more }
  return http.request({ host: '127.0.0.1', port, method, path, headers: sent })
}

/** Forwards a request to the Manager and the response back to the client. */
export function forward(request: http.IncomingMessage, response: http.ServerResponse, target: Forward): void {
  // A disconnected client needs no response, and a pipe into a closed stream would throw.
  if (request.destroyed || response.destroyed) return
  const forwarded = start(request, target)
  forwarded.on('error', () => {
    if (response.headersSent) response.destroy()
    else
      response
        .writeHead(502, { 'content-type': 'application/json' })
        .end('{"error":"the Manager does not respond"}')
  })
  response.on('close', () => forwarded.destroy())
  forwarded.on('response', (answer) => {
    if (response.destroyed) return void answer.destroy()
    const headers = Object.entries(answer.headers).filter(([name]) => !hopNames.test(name))
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers))
    pipeline(answer, response, () => undefined)
  })
  pipeline(request, forwarded, (error) => void (error && forwarded.destroy()))
}

/** Forwards a WebSocket to the Manager. If the Manager rejects it, the client receives the rejection. */
export function forwardSocket(request: http.IncomingMessage, socket: Duplex, target: Forward): void {
  const forwarded = start(request, target, { connection: 'Upgrade', upgrade: 'websocket' })
  forwarded.on('error', () => socket.destroy())
  forwarded.on('response', ({ statusCode = 502 }) => refuseSocket(socket, statusCode))
  forwarded.on('upgrade', ({ rawHeaders }, upstream, first) => {
    if (socket.destroyed) return void upstream.destroy()
    const lines = rawHeaders.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n'))
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
    upstream.unshift(first)
    pipeline(upstream, socket, () => undefined)
    pipeline(socket, upstream, () => undefined)
  })
  forwarded.end()
}

/** Rejects an upgrade with a status. */
export const refuseSocket = (socket: Duplex, status: number): void =>
  void socket.end(`HTTP/1.1 ${status} Rejected\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)

/** Listens on loopback. `close` also closes all open connections, including WebSockets. */
export async function listen(server: http.Server, port: number) {
  const sockets = new Set<Duplex>()
  server.on('connection', (socket: Duplex) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return { port: (server.address() as AddressInfo).port, close }
}
