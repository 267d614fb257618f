// Answers that nobody takes: whoever asks and does not read, or asks without end, holds little and keeps nobody out.
import { afterEach, expect, test } from 'vitest'
import { type TestApp, startTestApp } from './kit/app.ts'
import { call, unreadAnswers } from './kit/unread-answers.ts'

const { seen, start, use, end, ask, open, fetchText } = unreadAnswers()
afterEach(end)

test('a connection whose answer nobody takes is closed after a while, one that waits for its answer is not', async () => {
  await start({ max: 10, unreadMs: 300 })
  const unread = await ask(call('/large'))
  expect(await fetchText('/late')).toBe('late')
  await expect.poll(open).toBe(0)
  expect(seen.closed).toBe(1)
  unread.destroy()
})

test('answers that nobody takes keep nobody out of a full port', async () => {
  await start({ max: 4, unreadMs: 60_000 })
  for (let i = 0; i < 4; i++) await ask(call('/large'))
  await expect.poll(() => seen.served).toBe(4)
  for (let i = 0; i < 4; i++) expect(await fetchText('/small')).toBe('small')
  expect(seen.closed).toBeGreaterThan(0)
})

test('requests one behind the other are taken up to 100; beyond, the connection is closed and none of them runs', async () => {
  await start({ max: 10, unreadMs: 60_000 })
  const within = await ask(call('/x').repeat(100))
  await expect.poll(() => seen.served).toBe(100)
  expect([seen.closed, within.destroyed]).toEqual([0, false])
  await ask(call('/x').repeat(5_000))
  await expect.poll(async () => [seen.served, seen.closed, await open()]).toEqual([200, 1, 1])
})

test('the service has both bounds', async () => {
  const service: TestApp = await startTestApp()
  const { server } = service.app.server
  use(server)
  try {
    expect(server.timeout).toBe(30_000)
    const socket = await ask(call('/health').repeat(5_000))
    await new Promise((resolve) => socket.resume().once('close', resolve))
  } finally {
    await service.close()
  }
})
