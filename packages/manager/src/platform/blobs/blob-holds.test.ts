// What responses hold of blobs is counted from the read until the last of them has closed.
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { createBlobHolds } from './blob-holds.ts'
import type { ReadBlob } from './blob-cache.ts'
import type { BlobRef } from './blob-store.ts'

const refOf = (sha256: string, size = 40): BlobRef => ({ sha256, size, store: 'postgres' })
/** Holds of at most 100 bytes. */
function createHolds(read: ReadBlob = async ({ size }, _owner, inUse) => inUse ?? Buffer.alloc(size)) {
  const holds = createBlobHolds({ read, maxBytes: 100 })
  const begin = async (sha256: string, owner: string, size?: number) => {
    const response = new EventEmitter()
    return {
      bytes: await holds.hold(refOf(sha256, size), owner, response),
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
  const { begin, bufferedBytes } = createHolds()
  const [first, second] = [await begin('a', 'one'), await begin('a', 'two')]
  expect(second.bytes).toBe(first.bytes)
  expect(bufferedBytes()).toBe(40)
  first.close()
  expect(bufferedBytes()).toBe(40)
  second.close()
  expect(bufferedBytes()).toBe(0)
})

test('one project has at most half, and all together no more than there is; what is sent already needs no room', async () => {
  const { begin, bufferedBytes } = createHolds()
  const first = await begin('a', 'one')
  await expect(begin('b', 'one')).rejects.toMatchObject(refused)
  const second = await begin('b', 'two')
  await expect(begin('c', 'three')).rejects.toMatchObject(refused)
  const shared = await begin('a', 'two')
  const small = await begin('c', 'three', 20)
  expect(bufferedBytes()).toBe(100)
  for (const response of [first, second, shared, small]) response.close()
  expect(bufferedBytes()).toBe(0)
  expect((await begin('b', 'one')).bytes).toHaveLength(40)
})

test('a refused response reads nothing', async () => {
  const reads: string[] = []
  const { begin } = createHolds(async ({ sha256, size }) => {
    reads.push(sha256)
    return Buffer.alloc(size)
  })
  await begin('a', 'one')
  await expect(begin('b', 'one')).rejects.toMatchObject(refused)
  expect(reads).toEqual(['a'])
})

test('a blob larger than the share of a project is sent when it is the only one', async () => {
  const { begin } = createHolds()
  const small = await begin('small', 'one', 1)
  await expect(begin('large', 'two', 200)).rejects.toMatchObject(refused)
  small.close()
  expect((await begin('large', 'two', 200)).bytes).toHaveLength(200)
})

test('a read goes on when the client has left, and counts until it ends', async () => {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const { hold, bufferedBytes } = createHolds(() => promise)
  const response = new EventEmitter()
  const reading = hold(refOf('a'), 'one', response)
  response.emit('close')
  expect(bufferedBytes()).toBe(40)
  resolve(Buffer.alloc(40))
  await reading
  expect(bufferedBytes()).toBe(0)
})

test.each(['before', 'after'])('a read that fails holds nothing: the client leaves %s that', async (when) => {
  const { promise, reject } = Promise.withResolvers<Buffer>()
  const { hold, bufferedBytes } = createHolds(() => promise)
  const [response, other] = [new EventEmitter(), new EventEmitter()]
  const readings = [hold(refOf('a'), 'one', response), hold(refOf('a'), 'one', other)]
  if (when === 'before') response.emit('close')
  reject(new Error('damaged'))
  const outcomes = await Promise.allSettled(readings)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(bufferedBytes()).toBe(0)
  response.emit('close')
  other.emit('close')
  expect(bufferedBytes()).toBe(0)
})
