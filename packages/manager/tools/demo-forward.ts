// Passes a request on to the Manager, with the headers that the proxy vouches for and none that a client made up.
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as ask,
} from 'node:http'
import { type Duplex, pipeline } from 'node:stream'

/** Only a proxy may set these; and the session is for the proxy alone. */
const ownNames =
  /^(?:x-proxy-|x-token-|x-forwarded-|forwarded$|x-user-id$|x-tenant-id$|x-select-tenant$|x-request-id$|traceparent$|tracestate$|cookie$|authorization$)/
/** Of one connection, not of the request. */
const hopNames =
  /^(?:connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|trailer|upgrade)$/

export type Target = { port: number }
export type Vouched = Record<string, string>

function headersFor({ headers, socket }: IncomingMessage, vouched: Vouched): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !ownNames.test(name) && !hopNames.test(name))
  return {
    ...Object.fromEntries(kept),
    'x-forwarded-for': socket.remoteAddress ?? '',
    'x-forwarded-host': headers.host ?? '',
    'x-forwarded-proto': 'http',
    ...vouched,
  }
}

const start = (request: IncomingMessage, { port }: Target, headers: IncomingHttpHeaders) =>
  ask({ host: '127.0.0.1', port, method: request.method, path: request.url, headers })

/** Passes a request on, and its answer back. */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  vouched: Vouched,
): void {
  // Whoever left while it was decided about needs no answer, and a pipe into what is gone would throw.
  if (request.destroyed || response.destroyed) return
  const forwarded = start(request, target, headersFor(request, vouched))
  const fail = (): void => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502, { 'content-type': 'application/json' }).end('{"error":"no answer"}')
  }
  forwarded.on('error', fail)
  response.on('close', () => forwarded.destroy())
  forwarded.on('response', (answer) => {
    if (response.destroyed) return void answer.destroy()
    const headers = Object.entries(answer.headers).filter(([name]) => !hopNames.test(name))
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers))
    pipeline(answer, response, () => undefined)
  })
  pipeline(request, forwarded, (error) => void (error && forwarded.destroy()))
}

/** Passes a websocket on. What the Manager answers instead of one is passed back. */
export function forwardSocket(
  request: IncomingMessage,
  socket: Duplex,
  target: Target,
  vouched: Vouched,
): void {
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }
  const forwarded = start(request, target, { ...headersFor(request, vouched), ...upgrade })
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

/** Answers an upgrade with a status. */
export const refuseSocket = (socket: Duplex, status: number): void =>
  void socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
