// Checks that a client behind the link observes every fault, and no fault after the link is healed.
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

let folder: string
let echo: Server
let proxy: FaultProxy
const heard: string[] = []

beforeAll(async () => {
  folder = mkdtempSync(`${tmpdir()}/manager-faults-test-`)
  echo = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      heard.push(chunk.toString())
      socket.write(chunk)
    })
  })
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  proxy = await startFaultProxy(folder, { host: '127.0.0.1', port: (echo.address() as AddressInfo).port })
})
afterEach(() => proxy.heal())
afterAll(async () => {
  await proxy.end()
  echo.close()
  rmSync(folder, { recursive: true })
})

type Talk = { socket: Socket; text: () => string; ended: () => string | null }

/** Opens a connection to the target through the proxy. */
async function talk(): Promise<Talk> {
  let text = ''
  let ended: string | null = null
  const socket = connect(proxy.port, '127.0.0.1')
  socket.on('data', (chunk) => (text += chunk.toString()))
  socket.on('error', (error: NodeJS.ErrnoException) => (ended = error.code ?? 'error'))
  socket.on('close', () => (ended ??= 'closed'))
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve).once('close', () => resolve())
  })
  return { socket, text: () => text, ended: () => ended }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('latency is added each way, and the order stays', async () => {
  await proxy.set({ latencyMs: 150, jitterMs: 50 })
  const { socket, text } = await talk()
  const start = performance.now()
  for (let n = 0; n < 20; n++) socket.write(`${n} `)
  await expect.poll(text).toBe(Array.from({ length: 20 }, (_, n) => `${n} `).join(''))
  expect(performance.now() - start).toBeGreaterThan(190)
  socket.destroy()
})

test('bandwidth is limited', async () => {
  await proxy.set({ bytesPerSecond: 100_000 })
  const { socket, text } = await talk()
  const start = performance.now()
  socket.write('x'.repeat(50_000))
  await expect.poll(() => text().length, { timeout: 5_000 }).toBe(50_000)
  expect(performance.now() - start).toBeGreaterThan(450)
  socket.destroy()
})

test.each([
  { mode: 'silent', arrives: false },
  { mode: 'silent-up', arrives: false },
  { mode: 'silent-down', arrives: true },
] as const)(
  '$mode swallows bytes and tells nobody; healed, the connection is reset',
  async ({ mode, arrives }) => {
    const { socket, text, ended } = await talk()
    await proxy.set({ mode })
    heard.length = 0
    socket.write(mode)
    await pause(200)
    await expect.poll(() => heard.includes(mode)).toBe(arrives)
    expect([text(), ended()]).toEqual(['', null])
    await proxy.heal()
    await expect.poll(ended).toBe('ECONNRESET')
  },
)

test('connections are refused, or reset at once, and those there are with them', async () => {
  const open = await talk()
  await proxy.set({ mode: 'refuse' })
  await expect.poll(open.ended).toBe('ECONNRESET')
  expect((await talk()).ended()).toBe('ECONNREFUSED')
  await proxy.set({ mode: 'reset' })
  const { ended } = await talk()
  await expect.poll(ended).toBe('ECONNRESET')
  await proxy.heal()
  const { socket, text } = await talk()
  socket.write('again')
  await expect.poll(text).toBe('again')
  expect(await proxy.resetOpen()).toBe(1)
  await expect.poll(() => proxy.open()).toBe(0)
})

test('an answer is cut short', async () => {
  await proxy.set({ resetAfterBytes: 300 })
  const { socket, text, ended } = await talk()
  socket.write('y'.repeat(1_000))
  await expect.poll(ended).toBe('ECONNRESET')
  expect(text()).toHaveLength(300)
})
