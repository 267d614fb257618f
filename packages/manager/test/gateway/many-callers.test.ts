// The connections of the port are for all projects: the callers of one cannot take them all.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, type GatewayScene, gatewayScene, startGateway } from '../kit/gateway.ts'
import { type Message, statusOf } from '../kit/http-messages.ts'
import { type RawSocket, openRaw } from '../kit/raw-socket.ts'

const maxConnections = 20
let gateway: Gateway
let neighbour: GatewayScene
let opened: RawSocket[] = []
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_MAX_CONNECTIONS: String(maxConnections) } })
  neighbour = await gatewayScene(gateway.service, 'neighbour')
})
afterAll(() => gateway.close())

test('callers of one project who hold their calls open leave half of the connections to the others', async () => {
  const input = { url: gateway.upstream.url, transformationTemplate: 'x' }
  const [own, foreign] = [await gateway.endpoint(input), await neighbour.endpoint(input)]
  for (let i = 0; i < 2 * maxConnections; i++) {
    const raw = await openRaw(gateway.service.url)
    opened.push(raw)
    raw.send(
      `POST ${own.path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${gateway.machine.token}\r\nContent-Length: 1000\r\n\r\n{`,
    )
    // Each is let in or turned away before the next one comes.
    const isIn = async () => (await gateway.logged(own.id)).length > i
    await expect.poll(async () => raw.ended() !== null || (await isIn())).toBe(true)
  }
  const over = opened.slice(maxConnections / 2)
  await expect.poll(() => over.every((raw) => raw.ended() !== null)).toBe(true)
  expect(opened.slice(0, maxConnections / 2).map((raw) => raw.ended())).not.toContain('end')
  expect(statusOf(over[0]?.answers()[0] as Message)).toBe(503)
  for (let i = 0; i < 5; i++) {
    expect((await neighbour.send(foreign.path, { method: 'POST', body: '{}' })).status).toBe(200)
    expect((await fetch(`${gateway.service.url}/health`)).status).toBe(200)
  }
  for (const { socket } of opened.splice(0)) socket.destroy()
  // Whoever ends gives the place back.
  await expect
    .poll(async () => (await gateway.send(own.path, { method: 'POST', body: '{}' })).status)
    .toBe(200)
  opened = []
})
