// Blob bytes count toward the memory limit from the read until the last response has closed.
import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Holder, createBlobHolds } from './blob-holds.ts'
import type { ReadBlob } from './blob-cache.ts'
import type { BlobRef } from './blob-store.ts'

const refOf = (sha256: string, size = 40): BlobRef => ({ sha256, size, store: 'postgres' })
/** A response whose client reads nothing. */
const holderOf = (response: EventEmitter): Holder => ({
  onClose: (listener) => void response.on('close', listener),
  getTransferredBytes: () => 0,
  end: () => void response.emit('close'),
})
/** Creates a memory budget of 100 bytes. */
function createHolds(read: ReadBlob = async ({ size }, _owner, inUse) => inUse ?? Buffer.alloc(size)) {
  const holds = createBlobHolds({ read, maxBytes: 100, maxBlobBytes: 40, maxWaitMs: 20 })
  const begin = async (sha256: string, owner: string, size?: number) => {
    const response = new EventEmitter()
    return {
      bytes: await holds.hold(refOf(sha256, size), [owner, `client of ${owner}`], holderOf(response)),
      close: () => response.emit('close'),
    }
  }
  return { ...holds, begin }
}
const refused = {
  status: 503,
  retryAfterSeconds: 1,
  message: 'too many bundles are being sent; try again',
}

test('a blob counts once, until the last response that holds it has closed', async () => {
  const { begin, getBufferedBytes: bufferedBytes } = createHolds()
  const [first, second] = [await begin('a', 'one'), await begin('a', 'two')]
  expect(second.bytes).toBe(first.bytes)
  expect(bufferedBytes()).toBe(40)
  first.close()
  expect(bufferedBytes()).toBe(40)
  second.close()
  expect(bufferedBytes()).toBe(0)
})

test('all together hold no more than there is; what is sent already needs no room', async () => {
  const { begin, getBufferedBytes: bufferedBytes } = createHolds()
  const [first, second] = [await begin('a', 'one'), await begin('b', 'one')]
  await expect(begin('c', 'one')).rejects.toMatchObject(refused)
  const shared = await begin('a', 'two')
  // One eighth of the memory budget is reserved for smaller blobs.
  const small = await begin('c', 'three', 7)
  expect(bufferedBytes()).toBe(87)
  for (const response of [first, second, shared, small]) response.close()
  expect(bufferedBytes()).toBe(0)
  expect((await begin('b', 'one')).bytes).toHaveLength(40)
})

test('whoever waits for the same bytes has them as soon as one of them has room', async () => {
  const { begin, getBufferedBytes: bufferedBytes } = createHolds()
  const [first, second] = [await begin('a', 'one'), await begin('b', 'one')]
  const waiting = [begin('c', 'two'), begin('c', 'three')]
  first.close()
  const responses = await Promise.all(waiting)
  expect(bufferedBytes()).toBe(80)
  for (const response of [second, ...responses]) response.close()
  expect(bufferedBytes()).toBe(0)
})

test('a response that waits and is closed waits no longer', async () => {
  const { begin, hold, getBufferedBytes: bufferedBytes } = createHolds()
  const [first, second] = [await begin('a', 'one'), await begin('b', 'one')]
  const response = new EventEmitter()
  const waiting = hold(refOf('c'), ['two', 'client'], holderOf(response))
  response.emit('close')
  await expect(waiting).rejects.toMatchObject(refused)
  first.close()
  second.close()
  expect(bufferedBytes()).toBe(0)
})

test('a refused response reads nothing', async () => {
  const reads: string[] = []
  const { begin } = createHolds(async ({ sha256, size }) => {
    reads.push(sha256)
    return Buffer.alloc(size)
  })
  await begin('a', 'one', 100)
  await expect(begin('b', 'two')).rejects.toMatchObject(refused)
  expect(reads).toEqual(['a'])
})

test('a blob larger than all there is is sent when it is the only one', async () => {
  const { begin } = createHolds()
  const small = await begin('small', 'one', 1)
  await expect(begin('large', 'two', 200)).rejects.toMatchObject(refused)
  small.close()
  expect((await begin('large', 'two', 200)).bytes).toHaveLength(200)
})

test('a read goes on when the client has left, and counts until it ends', async () => {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const { hold, getBufferedBytes: bufferedBytes } = createHolds(() => promise)
  const response = new EventEmitter()
  const reading = hold(refOf('a'), ['one', 'client'], holderOf(response))
  await setImmediate()
  response.emit('close')
  expect(bufferedBytes()).toBe(40)
  resolve(Buffer.alloc(40))
  await reading
  expect(bufferedBytes()).toBe(0)
})

test.each(['before', 'after'])('a read that fails holds nothing: the client leaves %s that', async (when) => {
  const { promise, reject } = Promise.withResolvers<Buffer>()
  const { hold, getBufferedBytes: bufferedBytes } = createHolds(() => promise)
  const [response, other] = [new EventEmitter(), new EventEmitter()]
  const readings = [
    hold(refOf('a'), ['one', 'client'], holderOf(response)),
    hold(refOf('a'), ['one', 'client'], holderOf(other)),
  ]
  await setImmediate()
  if (when === 'before') response.emit('close')
  reject(new Error('damaged'))
  const outcomes = await Promise.allSettled(readings)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(bufferedBytes()).toBe(0)
  response.emit('close')
  other.emit('close')
  expect(bufferedBytes()).toBe(0)
})
