// Answers that nobody takes: whoever asks and does not read, or asks without end, holds little and keeps nobody out.
import { type Server, createServer, get } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { limitConnections } from '../src/platform/http/connection-limit.ts'
import { type TestApp, startTestApp } from './kit/app.ts'

let [closed, served] = [0, 0]
let server: Server
let sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.closeAllConnections()
  server.close()
  sockets = []
})

const large = Buffer.alloc(16 * 1_048_576)
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** /large answers more than the connection takes by itself, /late after a while, everything else at once. */
async function start(limits: { max: number; unreadMs: number }): Promise<void> {
  ;[closed, served] = [0, 0]
  server = createServer((request, response) => {
    served++
    if (request.url === '/late') setTimeout(() => response.end('late'), 3 * limits.unreadMs)
    else response.end(request.url === '/large' ? large : 'small')
  })
  limitConnections(server, limits, () => closed++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}
const portOf = (): number => (server.address() as AddressInfo).port

async function ask(text: string): Promise<Socket> {
  const socket = connect(portOf(), '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.pause()
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(text)
  return socket
}
const call = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const open = (): Promise<number> => new Promise((resolve) => server.getConnections((_, n) => resolve(n)))
const fetchText = (path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get({ port: portOf(), path, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve(text))
    }).on('error', reject)
  })

test('a connection whose answer nobody takes is closed after a while, one that waits for its answer is not', async () => {
  await start({ max: 10, unreadMs: 300 })
  await ask(call('/large'))
  const late = fetchText('/late')
  await later(100)
  expect(await open()).toBe(2)
  await later(700)
  expect([await open(), closed]).toEqual([1, 1])
  expect(await late).toBe('late')
})

test('a caller who takes an answer slowly gets all of it', async () => {
  await start({ max: 10, unreadMs: 300 })
  const socket = await ask(call('/large'))
  let read = 0
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 2)
  })
  socket.resume()
  for (let rounds = 0; read < large.length && rounds < 200; rounds++) await later(50)
  expect(read).toBeGreaterThan(large.length)
  expect(closed).toBe(0)
})

test('answers that nobody takes keep nobody out of a full port', async () => {
  await start({ max: 4, unreadMs: 60_000 })
  for (let i = 0; i < 4; i++) await ask(call('/large'))
  await later(100)
  for (let i = 0; i < 4; i++) expect(await fetchText('/small')).toBe('small')
  expect(closed).toBeGreaterThan(0)
})

test('requests one behind the other are taken up to 100; beyond, the connection is closed and none of them runs', async () => {
  await start({ max: 10, unreadMs: 60_000 })
  const within = await ask(call('/x').repeat(100))
  await later(200)
  expect([served, closed, within.destroyed]).toEqual([100, 0, false])
  await ask(call('/x').repeat(5_000))
  await later(200)
  expect([served, closed, await open()]).toEqual([200, 1, 1])
})

test('the service has both bounds', async () => {
  const service: TestApp = await startTestApp()
  server = service.app.server.server
  try {
    expect(server.timeout).toBe(30_000)
    const socket = await ask(call('/health').repeat(5_000))
    await new Promise((resolve) => socket.resume().once('close', resolve))
  } finally {
    await service.close()
  }
})
