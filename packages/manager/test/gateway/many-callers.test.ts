// Tests that the callers of one project cannot use all connections of the port, which all projects share.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, type GatewayScene, gatewayScene, startGateway } from '../kit/gateway.ts'
import { type Message, statusOf } from '@manager/harness/http-messages.ts'
import { type RawSocket, openRaw } from '../kit/raw-socket.ts'

const maxConnections = 20
let gateway: Gateway
let neighbor: GatewayScene
let opened: RawSocket[] = []
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_MAX_CONNECTIONS: String(maxConnections) } })
  neighbor = await gatewayScene(gateway.service, 'neighbor')
})
afterAll(() => gateway.close())

test('callers of one project who hold their calls open leave connections to the others', async () => {
  const input = { url: gateway.upstream.url, transformationTemplate: 'x' }
  const [own, foreign] = [await gateway.endpoint(input), await neighbor.endpoint(input)]
  const begin = async (): Promise<void> => {
    const raw = await openRaw(gateway.service.url)
    opened.push(raw)
    raw.send(
      `POST ${own.path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${gateway.machine.token}\r\nContent-Length: 1000\r\n\r\n{`,
    )
  }
  // Calls may use three quarters of the connections, and an eighth of those is reserved for other projects.
  const most = 13
  for (let i = 0; i < most; i++) {
    await begin()
    await expect.poll(async () => (await gateway.logged(own.id)).length).toBe(i + 1)
  }
  for (let i = 0; i < 5; i++) await begin()
  const over = opened.slice(most)
  await expect.poll(() => over.every((raw) => raw.ended() !== null)).toBe(true)
  expect(opened.slice(0, most).map((raw) => raw.ended())).not.toContain('end')
  expect(statusOf(over[0]?.responses()[0] as Message)).toBe(503)
  for (let i = 0; i < 5; i++) {
    expect((await neighbor.send(foreign.path, { method: 'POST', body: '{}' })).status).toBe(200)
    expect((await fetch(`${gateway.service.url}/health`)).status).toBe(200)
  }
  for (const { socket } of opened.splice(0)) socket.destroy()
  // A closed connection frees its slot.
  await expect
    .poll(async () => (await gateway.send(own.path, { method: 'POST', body: '{}' })).status)
    .toBe(200)
  opened = []
})
