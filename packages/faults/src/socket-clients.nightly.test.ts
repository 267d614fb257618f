// Checks that the socket clients follow the rules for close codes when a server closes or rejects sockets, and that
// the load balancer routes only to ready replicas.
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { listReturns } from './comms-checkers.ts'
import { startBalancer } from './haproxy.ts'
import { type Sockets, startSockets } from './sockets.ts'
import { ensureHighAvailability } from '@manager/harness/engines/install.ts'

type Fake = { url: string; server: Server; seen: WebSocket[]; handshakes: IncomingMessage[]; refuse: number }
const hello = JSON.stringify({ type: 'hello', reconnect_jitter_ms: 50 })
const fakes: Fake[] = []
let folder: string

/** Starts a fake replica that greets every socket, or rejects it with a status. */
async function startFake(isReady: () => boolean = () => true): Promise<Fake> {
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer((_request, response) => response.writeHead(isReady() ? 200 : 503).end())
  const fake: Fake = { url: '', server, seen: [], handshakes: [], refuse: 0 }
  server.on('upgrade', (request, socket, head) => {
    fake.handshakes.push(request)
    if (fake.refuse > 0)
      return void socket.end(`HTTP/1.1 ${fake.refuse} No\r\nRetry-After: 0\r\nConnection: close\r\n\r\n`)
    sockets.handleUpgrade(request, socket, head, (client) => {
      fake.seen.push(client)
      client.send(hello)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  fakes.push(fake)
  return fake
}

beforeAll(() => {
  ensureHighAvailability()
  folder = mkdtempSync(`${tmpdir()}/manager-faults-test-`)
})
afterAll(() => {
  for (const { server, seen } of fakes) {
    for (const client of seen) client.terminate()
    server.close()
    server.closeAllConnections()
  }
  rmSync(folder, { recursive: true })
})

async function withSockets(work: (sockets: Sockets) => Promise<void>): Promise<void> {
  const sockets = await startSockets(folder)
  try {
    await work(sockets)
  } finally {
    await sockets.end()
  }
}
const specsOf = ({ url }: { url: string }, count: number) =>
  Array.from({ length: count }, () => ({
    url: url.replace('http', 'ws'),
    headers: { 'x-user-id': 'ann' },
    group: 'all',
  }))

describe('people who look', () => {
  test('come back after 4000, stay away after 4500, and note both', () =>
    withSockets(async (sockets) => {
      const fake = await startFake()
      expect(await sockets.open(specsOf(fake, 2))).toBe(2)
      expect(fake.handshakes[0]?.headers['x-user-id']).toBe('ann')
      fake.seen[0]?.close(4_500)
      fake.seen[1]?.close(4_000)
      await expect
        .poll(async () => (await sockets.events()).map(({ kind }) => kind).sort())
        .toEqual(['closed', 'closed', 'hello', 'hello', 'hello'])
      expect(await sockets.greeted()).toBe(1)
      const returns = listReturns(await sockets.events())
      expect(new Set(returns.map(({ code }) => code))).toEqual(new Set([4_000, 4_500]))
      expect(returns.find(({ code }) => code === 4_500)?.backAt).toBeNull()
      expect(returns.find(({ code }) => code === 4_000)?.backAt).not.toBeNull()
    }))

  test('note hints by title and topic, short and long, and answer pings', () =>
    withSockets(async (sockets) => {
      const fake = await startFake()
      await sockets.open(specsOf(fake, 1))
      const [client] = fake.seen as [WebSocket]
      const answers: string[] = []
      client.on('message', (data: Buffer) => answers.push(data.toString()))
      client.send(JSON.stringify({ type: 'notification', id: '1', title: 'short', severity: 'info' }))
      client.send(JSON.stringify({ type: 'live', topic: 'long', data: 'x'.repeat(2_000) }))
      client.send('{"type":"ping"}')
      await expect.poll(() => answers).toEqual(['{"type":"pong"}'])
      expect((await sockets.arrivals()).map(({ key }) => key)).toEqual(['short', 'long'])
    }))

  test('one that is refused with 503 comes again', () =>
    withSockets(async (sockets) => {
      const fake = await startFake()
      fake.refuse = 503
      expect(await sockets.open(specsOf(fake, 1), 500)).toBe(0)
      await expect.poll(async () => (await sockets.events()).map(({ kind }) => kind)).toContain('refused')
      fake.refuse = 0
      await expect.poll(() => sockets.greeted()).toBe(1)
    }))

  test('count how late hints are, by phase and group, when there are too many to note', () =>
    withSockets(async (sockets) => {
      const fake = await startFake()
      await sockets.open(specsOf(fake, 1))
      await sockets.tally()
      const sentAt = performance.timeOrigin - 1_000 + performance.now()
      fake.seen[0]?.send(JSON.stringify({ type: 'live', topic: `clean 1 ${sentAt}`, data: null }))
      await expect.poll(() => sockets.latencies('clean', 'all')).toHaveLength(1)
      expect((await sockets.latencies('clean', 'all'))[0]).toBeGreaterThanOrEqual(999)
      expect(await sockets.arrivals()).toEqual([])
    }))
})

test('the balancer sends requests and sockets to those that are ready, and a refused connection to another one', async () => {
  let isReady = true
  const [first, second] = [await startFake(() => isReady), await startFake()]
  const targets = [first, second].map(({ url }) => ({ url, readyUrl: `${url}/readyz` }))
  const balancer = await startBalancer(folder, targets)
  try {
    await withSockets(async (sockets) => {
      await sockets.open(specsOf(balancer, 4))
      expect([first.seen.length, second.seen.length]).toEqual([2, 2])
      isReady = false
      await expect.poll(() => balancer.ready()).toBe(1)
      await sockets.open(specsOf(balancer, 2))
      expect([first.seen.length, second.seen.length]).toEqual([2, 4])
      isReady = true
      await expect.poll(() => balancer.ready()).toBe(2)
    })
    second.server.close()
    second.server.closeAllConnections()
    const statuses = await Promise.all(
      Array.from({ length: 4 }, async () => (await fetch(`${balancer.url}/any`)).status),
    )
    expect(statuses).toEqual([200, 200, 200, 200])
    expect((await balancer.stats()).serverErrors).toBe(0)
    await balancer.remove(targets[0] as (typeof targets)[0])
    await expect.poll(() => balancer.ready()).toBe(0)
    const refused = await fetch(`${balancer.url}/any`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    const third = await startFake()
    await balancer.add({ url: third.url, readyUrl: `${third.url}/readyz` })
    await expect.poll(() => balancer.ready()).toBe(1)
    expect((await fetch(`${balancer.url}/any`)).status).toBe(200)
  } finally {
    await balancer.end()
  }
})
