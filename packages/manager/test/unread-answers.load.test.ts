// Tests unread responses in real time: a slow reader gets the whole response, and a client that does not read is
// disconnected.
import { afterEach, expect, test } from 'vitest'
import { large, requestText, unreadResponses } from './kit/unread-responses.ts'

const { seen, start, end, send, open, fetchText } = unreadResponses()
afterEach(end)

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('a connection whose answer nobody takes is closed after a while, one that waits for its answer is not', async () => {
  await start({ max: 10, unreadMs: 300 })
  await send(requestText('/large'))
  const late = fetchText('/late')
  await later(100)
  expect(await open()).toBe(2)
  await later(700)
  expect([await open(), seen.closed]).toEqual([1, 1])
  expect(await late).toBe('late')
})

test('a caller who takes an answer slowly gets all of it', async () => {
  await start({ max: 10, unreadMs: 300 })
  const socket = await send(requestText('/large'))
  let read = 0
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 2)
  })
  socket.resume()
  for (let rounds = 0; read < large.length && rounds < 200; rounds++) await later(50)
  expect(read).toBeGreaterThan(large.length)
  expect(seen.closed).toBe(0)
})
