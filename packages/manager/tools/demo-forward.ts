// Forwards requests to the Manager with headers that the proxy vouches for, and removes such headers from client
// requests, because clients could forge them.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'

/** Headers that only a proxy may set, and the session cookie, which only the proxy may see. */
const proxyHeaderNames =
  /^(?:x-proxy-|x-token-|x-forwarded-|forwarded$|x-user-id$|x-tenant-id$|x-select-tenant$|x-request-id$|traceparent$|tracestate$|cookie$|authorization$)/
/** Hop-by-hop headers, which belong to one connection. */
const hopByHopNames =
  /^(?:connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|trailer|upgrade)$/

export type TrustedHeaders = Record<string, string>
type ForwardTarget = { port: number; trustedHeaders: TrustedHeaders }

function openRequest(
  request: http.IncomingMessage,
  { port, trustedHeaders }: ForwardTarget,
  more: TrustedHeaders = {},
) {
  const { headers, socket, method, url: path } = request
  const forwardedHeaders = Object.entries(headers).filter(
    ([name]) => !proxyHeaderNames.test(name) && !hopByHopNames.test(name),
  )
  const originHeaders = {
    'x-forwarded-for': socket.remoteAddress ?? '',
    'x-forwarded-host': headers.host ?? '',
  }
  const upstreamHeaders = {
    ...Object.fromEntries(forwardedHeaders),
    ...originHeaders,
    'x-forwarded-proto': 'http',
    ...trustedHeaders,
    ...more,
  }
  return http.request({ host: '127.0.0.1', port, method, path, headers: upstreamHeaders })
}

/** Forwards a request to the Manager and the response back to the client. */
export function forward(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  target: ForwardTarget,
): void {
  // A disconnected client needs no response, and a pipe into a closed stream would throw.
  if (request.destroyed || response.destroyed) return
  const upstreamRequest = openRequest(request, target)
  upstreamRequest.on('error', () => {
    if (response.headersSent) response.destroy()
    else
      response
        .writeHead(502, { 'content-type': 'application/json' })
        .end('{"error":"the Manager does not respond"}')
  })
  response.on('close', () => upstreamRequest.destroy())
  upstreamRequest.on('response', (upstreamResponse) => {
    if (response.destroyed) return void upstreamResponse.destroy()
    const headers = Object.entries(upstreamResponse.headers).filter(([name]) => !hopByHopNames.test(name))
    response.writeHead(upstreamResponse.statusCode ?? 502, Object.fromEntries(headers))
    pipeline(upstreamResponse, response, () => undefined)
  })
  pipeline(request, upstreamRequest, (error) => void (error && upstreamRequest.destroy()))
}

/** Forwards a WebSocket to the Manager. If the Manager rejects it, the client receives the rejection. */
export function forwardSocket(request: http.IncomingMessage, socket: Duplex, target: ForwardTarget): void {
  const upstreamRequest = openRequest(request, target, { connection: 'Upgrade', upgrade: 'websocket' })
  upstreamRequest.on('error', () => socket.destroy())
  upstreamRequest.on('response', ({ statusCode = 502 }) => refuseSocket(socket, statusCode))
  upstreamRequest.on('upgrade', ({ rawHeaders }, upstream, first) => {
    if (socket.destroyed) return void upstream.destroy()
    const lines = rawHeaders.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n'))
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
    upstream.unshift(first)
    pipeline(upstream, socket, () => undefined)
    pipeline(socket, upstream, () => undefined)
  })
  upstreamRequest.end()
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
    const closeEvent = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closeEvent
  }
  return { port: (server.address() as AddressInfo).port, close }
}
