// Tests that a rejected handshake is an ordinary request: it ends when its response is sent, not when its connection
// closes.
import { type Server, createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { limitConnections } from './connection-limit.ts'
import { createUpgrades } from './upgrades.ts'

const handshake =
  'GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\r\n'
const clients: Socket[] = []
let server: Server
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await new Promise((resolve) => server.close(resolve))
})

/** Starts a server that rejects every handshake and allows two connections. */
async function start(): Promise<void> {
  const upgrades = createUpgrades()
  upgrades.add('/ws')
  server = createServer({ shouldUpgradeCallback: upgrades.shouldUpgrade })
  server.on('request', (request, response) => {
    response.writeHead(request.headers.upgrade === undefined ? 200 : 401).end('x')
  })
  limitConnections(server, { max: 2 }, () => undefined)
  upgrades.serve(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}

/** Sends a request and keeps the connection open; resolves with the status, or with null if there is no response. */
function ask(request: string): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true }, () =>
    client.write(request),
  )
  clients.push(client)
  client.on('error', () => undefined)
  client.on('data', (data) => resolve(data.toString().slice(9, 12)))
  client.on('end', () => resolve(null))
  return promise
}

test('connections of refused handshakes do not keep out those that send requests', async () => {
  await start()
  expect(await Promise.all([ask(handshake), ask(handshake)])).toEqual(['401', '401'])
  expect(await ask('GET / HTTP/1.1\r\nhost: x\r\n\r\n')).toBe('200')
})
