// Tests upstreams that use TLS for an http URL, and upstreams that do not use TLS for an https URL.
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCertificate } from '@manager/harness/certificates.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'

let gateway: Gateway
const servers: Server[] = []
const sockets: Socket[] = []
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  await gateway.close()
})

/** Calls the server and returns the logged failure, which must match the response to the caller. */
async function outcomeOf(scheme: 'http' | 'https', server: Server) {
  servers.push(server)
  server.on('connection', (socket: Socket) => sockets.push(socket))
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { id, path } = await gateway.endpoint({ url: `${scheme}://127.0.0.1:${port}/` })
  const { status, error } = await gateway.send(path)
  const [row] = await gateway.logged(id)
  expect([status, error]).toEqual([502, `the call could not be forwarded: ${row?.failure}`])
  return row?.failure
}

/** Runs `act` on the first bytes of each connection. */
const onFirstBytes = (act: (socket: Socket) => void): Server =>
  createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => act(socket))
  })
const alert = (description: number): Buffer => Buffer.from([0x15, 3, 3, 0, 2, 2, description])

test('[esb.forward-failure] https:// to a server that speaks no TLS says so', async () => {
  let requests = 0
  const noTls = 'the upstream does not use TLS on this port; use http:// or another port'
  const plain = createHttpServer((_request, response) => {
    requests++
    response.end()
  })
  expect(await outcomeOf('https', plain)).toBe(noTls)
  for (const text of [
    'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n',
    '<html>The plain HTTP request was sent to HTTPS port</html>',
    '220 mail.example ESMTP\r\n',
  ])
    expect(
      await outcomeOf(
        'https',
        onFirstBytes((socket) => socket.end(text)),
      ),
    ).toBe(noTls)
  expect(requests).toBe(0)
})

test('[esb.forward-failure] a connection that is closed before TLS is set up is told apart: why is not known', async () => {
  const closed = 'the upstream closed the connection during the TLS handshake'
  expect(
    await outcomeOf(
      'https',
      onFirstBytes((socket) => socket.end()),
    ),
  ).toBe(closed)
  expect(
    await outcomeOf(
      'https',
      onFirstBytes((socket) => socket.resetAndDestroy()),
    ),
  ).toBe(closed)
  const atOnce = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end()
  })
  expect(await outcomeOf('https', atOnce)).toBe(closed)
})

test('[esb.forward-failure] a server that refuses our TLS is told apart', async () => {
  // TLS alerts: handshake failure and unsupported protocol version.
  for (const description of [40, 70])
    expect(
      await outcomeOf(
        'https',
        onFirstBytes((socket) => socket.end(alert(description))),
      ),
    ).toBe('the TLS connection to the upstream failed')
})

test('[esb.forward-failure] http:// to a server that speaks TLS says so where it answers in TLS', async () => {
  const tls = onFirstBytes((socket) => socket.end(alert(70)))
  expect(await outcomeOf('http', tls)).toBe('the upstream requires TLS; use https:// or another port')
  // This server closes the connection without a response.
  const { cert, key } = createCertificate('here', ['127.0.0.1'])
  expect(await outcomeOf('http', createTlsServer({ cert, key }))).toBe(
    'the upstream response is incomplete or invalid',
  )
})
