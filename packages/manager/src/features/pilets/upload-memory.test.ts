// These tests check that uploads in progress stay within the memory budget, and that an upload always releases its
// memory when it ends.
import { expect, test, vi } from 'vitest'
import { createUploadMemory } from './upload-memory.service.ts'

const refused = {
  status: 503,
  retryAfterSeconds: 1,
  message: 'too many uploads are in progress; try again later',
}

test('what does not fit into the budget waits, and is answered 503', async () => {
  const memory = createUploadMemory({ maxBytes: 200, maxUploadBytes: 100, maxWaitMs: 20 })
  const [one, two, three] = [memory.open('a', 'x'), memory.open('a', 'x'), memory.open('a', 'x')]
  await one.take(Buffer.alloc(100))
  await two.take(Buffer.alloc(90))
  await expect(three.take(Buffer.alloc(50))).rejects.toMatchObject(refused)
  expect(memory.getBufferedBytes()).toBe(190)
  const waiting = three.take(Buffer.alloc(50, 'x'))
  one.close()
  await waiting
  expect(three.getCollected().bytes.toString()).toBe('x'.repeat(50))
  two.close()
  three.close()
  expect(memory.getBufferedBytes()).toBe(0)
})

test('an upload that crawls is ended when another project waits; one that has arrived is not', async () => {
  vi.useFakeTimers()
  try {
    const memory = createUploadMemory({ maxBytes: 200, maxUploadBytes: 100 })
    const [crawling, arrived, other] = [memory.open('a', 'x'), memory.open('a', 'y'), memory.open('b', 'z')]
    await crawling.take(Buffer.alloc(100))
    await arrived.take(Buffer.alloc(100))
    const { bytes } = arrived.getCollected()
    const ended = crawling.abortPromise.catch((error: unknown) => error)
    const waiting = other.take(Buffer.alloc(50))
    await vi.advanceTimersByTimeAsync(6_000)
    await waiting
    expect(await ended).toMatchObject({ status: 503, retryAfterSeconds: 1 })
    expect(memory.getBufferedBytes()).toBe(150)
    expect(bytes).toHaveLength(100)
  } finally {
    vi.useRealTimers()
  }
})
