// Tests unread responses: a client that does not read, or that pipelines endlessly, uses few resources and does not
// lock out others.
import { afterEach, expect, test } from 'vitest'
import { type TestApp, startTestApp } from './kit/app.ts'
import { requestText, unreadResponses } from './kit/unread-responses.ts'

const { seen, start, use, end, send, open, fetchText } = unreadResponses()
afterEach(end)

test('a connection whose answer nobody takes is closed after a while, one that waits for its answer is not', async () => {
  await start({ max: 10, unreadMs: 300 })
  const unread = await send(requestText('/large'))
  expect(await fetchText('/late')).toBe('late')
  await expect.poll(open).toBe(0)
  expect(seen.closed).toBe(1)
  unread.destroy()
})

test('answers that nobody takes keep nobody out of a full port', async () => {
  await start({ max: 4, unreadMs: 60_000 })
  for (let i = 0; i < 4; i++) await send(requestText('/large'))
  await expect.poll(() => seen.served).toBe(4)
  for (let i = 0; i < 4; i++) expect(await fetchText('/small')).toBe('small')
  expect(seen.closed).toBeGreaterThan(0)
})

test('requests one behind the other are taken up to 100; beyond, the connection is closed and none of them runs', async () => {
  await start({ max: 10, unreadMs: 60_000 })
  const within = await send(requestText('/x').repeat(100))
  await expect.poll(() => seen.served).toBe(100)
  expect([seen.closed, within.destroyed]).toEqual([0, false])
  await send(requestText('/x').repeat(5_000))
  await expect.poll(async () => [seen.served, seen.closed, await open()]).toEqual([200, 1, 1])
})

test('the service has both bounds', async () => {
  const service: TestApp = await startTestApp()
  const { server } = service.app.server
  use(server)
  try {
    expect(server.timeout).toBe(30_000)
    const socket = await send(requestText('/health').repeat(5_000))
    await new Promise((resolve) => socket.resume().once('close', resolve))
  } finally {
    await service.close()
  }
})
