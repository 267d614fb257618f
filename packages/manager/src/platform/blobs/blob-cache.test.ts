// Tests that bytes are compared with their hash before a caller gets them, and that concurrent callers share one read.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BlobsWorld, sha256Of, uniqueBytes, startBlobs } from '../../../test/kit/blobs.ts'
import { version } from '../../version.ts'
import { createMetrics } from '../metrics.ts'
import { createBlobCache } from './blob-cache.ts'
import { type BlobRef, type BlobStores, type StoreName, storeNames } from './blob-store.ts'

const metrics = createMetrics(version)
const damagedIn = async (store: StoreName): Promise<number> => {
  const { values } = await metrics.damagedBlobs.get()
  return values.find(({ labels }) => labels['store'] === store)?.value ?? 0
}

describe.each(storeNames)('blobs of the store %s in memory', (store) => {
  let world: BlobsWorld
  beforeAll(async () => {
    world = await startBlobs(store)
  })
  afterAll(() => world.close())

  const keep = async (bytes: Buffer): Promise<BlobRef> => {
    const { sha256 } = await world.blobs.store(sha256Of(bytes), bytes)
    return { sha256, size: bytes.length, store }
  }
  const createCache = (maxBytes: number, stores: BlobStores = world.stores) =>
    createBlobCache({ stores, log: world.log, metrics, maxBytes })

  test('a blob is read from its store once', async () => {
    const bytes = uniqueBytes(500_000)
    const ref = await keep(bytes)
    const { stores, reads } = counted(world.stores)
    const read = createCache(1_000_000, stores)
    const answers = await Promise.all([read(ref, 'a'), read(ref, 'b'), read(ref, 'a')])
    answers.push(await read(ref, 'a'))
    expect(answers.every((answer) => answer.equals(bytes))).toBe(true)
    expect(reads).toEqual([ref.sha256])
  })

  test.each([
    ['is larger than the cache', 100_000],
    ['meets a cache that keeps nothing', 0],
  ])('a blob that %s is read each time', async (_what, maxBytes) => {
    const bytes = uniqueBytes(200_000)
    const ref = await keep(bytes)
    const { stores, reads } = counted(world.stores)
    const read = createCache(maxBytes, stores)
    expect((await read(ref, 'a')).equals(bytes)).toBe(true)
    expect((await read(ref, 'a')).equals(bytes)).toBe(true)
    expect(reads).toHaveLength(2)
  })

  const wrongs: [string, Buffer | null][] = [
    ['others', Buffer.from('something else')],
    ['others of the same length', Buffer.alloc(200_000)],
    ['more', Buffer.alloc(200_001)],
    ['none', null],
  ]
  test.each(wrongs)(
    'stored bytes that are not what the hash says are never handed out: %s',
    async (_, wrong) => {
      const bytes = uniqueBytes(200_000)
      const ref = await keep(bytes)
      await world.damage(ref.sha256, wrong)
      const read = createCache(1_000_000)
      const before = await damagedIn(store)
      await expect(read(ref, 'a')).rejects.toMatchObject({ status: 500 })
      await expect(read(ref, 'a')).rejects.toMatchObject({ status: 500 })
      expect(await damagedIn(store)).toBe(before + 2)
      const line = world.lines.findLast((text) => text.includes('does not match its hash'))
      expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'error', sha256: ref.sha256, store })
      // Uploading the same bytes again repairs the blob.
      await world.blobs.store(ref.sha256, bytes)
      expect((await read(ref, 'a')).equals(bytes)).toBe(true)
    },
  )

  test('one owner takes all places but one, and others still read', async () => {
    const refs = await Promise.all([1, 2, 3, 4].map(() => keep(uniqueBytes(1_000))))
    const other = await keep(uniqueBytes(1_000))
    const { stores, reads, release } = held(world.stores)
    const read = createCache(0, stores)
    const waiting = refs.map((ref) => read(ref, 'busy'))
    waiting.push(read(other, 'other'))
    await expect.poll(() => reads.length).toBe(4)
    expect(reads).toContain(other.sha256)
    release()
    await Promise.all(waiting)
    expect(reads).toHaveLength(5)
  })

  test('beyond its share of the queue an owner is answered 503 with `Retry-After`', async () => {
    const { stores, release } = held(world.stores)
    const read = createCache(0, stores)
    // Three reads are running, 4,000 wait and one is rejected. None of the blobs exists.
    const refs = Array.from({ length: 4_004 }, (_, n) => ({
      sha256: sha256Of(Buffer.from(`${n}`)),
      size: 1,
      store,
    }))
    const answers = refs.map((ref) => read(ref, 'busy').then(() => null, String))
    release()
    const refused = (await Promise.all(answers)).filter((text) => text?.includes('damaged') !== true)
    expect(refused).toEqual(['AppError: too many bundles are being read; try again'])
  })
})

/** Wraps the stores and records every read. */
function counted(stores: BlobStores) {
  const reads: string[] = []
  const of: BlobStores['getStore'] = (name) => {
    const store = stores.getStore(name)
    const read = (sha256: string): AsyncIterable<Buffer> => {
      reads.push(sha256)
      return store.read(sha256)
    }
    return { ...store, read }
  }
  return { stores: { ...stores, getStore: of }, reads }
}

/** Wraps the stores and blocks every read until `release` is called. */
function held(stores: BlobStores) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const inner = counted(stores)
  const of: BlobStores['getStore'] = (name) => {
    const store = inner.stores.getStore(name)
    return {
      ...store,
      read: async function* (sha256) {
        const pieces = store.read(sha256)
        await promise
        yield* pieces
      },
    }
  }
  return { stores: { ...stores, getStore: of }, reads: inner.reads, release: () => resolve() }
}
