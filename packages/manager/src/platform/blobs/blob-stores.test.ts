// Tests that both stores behave in the same way, with a real PostgreSQL and a real S3 service.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BlobsWorld, readAll, sha256Of, uniqueBytes, startBlobs } from '../../../test/kit/blobs.ts'
import { storeNames } from './blob-store.ts'

describe.each(storeNames)('the store %s', (name) => {
  let world: BlobsWorld
  beforeAll(async () => {
    world = await startBlobs(name)
  })
  afterAll(() => world.close())

  const putNew = async (bytes: Buffer): Promise<string> => {
    const sha256 = sha256Of(bytes)
    await world.register(sha256, bytes.length)
    await world.store.put(sha256, bytes)
    return sha256
  }

  test.each([1, 262_143, 262_144, 262_145, 4 * 262_144, 16 * 1_048_576])(
    'returns the %i bytes it was given [pilets.store]',
    async (size) => {
      const bytes = uniqueBytes(size)
      const sha256 = await putNew(bytes)
      expect((await readAll(world, sha256))?.equals(bytes)).toBe(true)
    },
  )

  test('keeps no bytes at all, too', async () => {
    const sha256 = await putNew(Buffer.alloc(0))
    expect(await readAll(world, sha256)).toBeNull()
    await world.sql.query('delete from blobs where sha256 = $1', [sha256])
  })

  test('returns nothing for a blob it does not have, registered or not', async () => {
    const sha256 = sha256Of(uniqueBytes(10))
    expect(await readAll(world, sha256)).toBeNull()
    await world.register(sha256, 10)
    expect(await readAll(world, sha256)).toBeNull()
  })

  test('putting the same again changes nothing', async () => {
    const bytes = uniqueBytes(600_000)
    const sha256 = await putNew(bytes)
    const before = await world.stored()
    await Promise.all([world.store.put(sha256, bytes), world.store.put(sha256, bytes)])
    expect((await readAll(world, sha256))?.equals(bytes)).toBe(true)
    expect(await world.stored()).toBe(before)
  })

  test.each([
    ['other', Buffer.from('these are not the bytes')],
    ['no', Buffer.alloc(0)],
    ['more', Buffer.alloc(300_000)],
  ])('putting the same again mends a blob that has %s bytes', async (_what, wrong) => {
    const bytes = uniqueBytes(600_000)
    const sha256 = await putNew(bytes)
    await world.damage(sha256, wrong)
    expect((await readAll(world, sha256))?.equals(bytes) ?? false).toBe(false)
    await world.store.put(sha256, bytes)
    expect((await readAll(world, sha256))?.equals(bytes)).toBe(true)
  })

  test('a put for a row that is gone is answered 503, and stores nothing', async () => {
    const before = await world.stored()
    const bytes = uniqueBytes(100)
    await expect(world.store.put(sha256Of(bytes), bytes)).rejects.toMatchObject({
      status: 503,
      message: 'the stored bytes were removed concurrently; try again',
      retryAfterSeconds: 1,
    })
    expect(await world.stored()).toBe(before)
  })

  test('removing twice is no failure', async () => {
    const sha256 = await putNew(uniqueBytes(300_000))
    await world.store.remove(sha256)
    await world.store.remove(sha256)
    await world.sql.query('delete from blobs where sha256 = $1', [sha256])
    await world.store.remove(sha256)
    expect(await readAll(world, sha256)).toBeNull()
  })
})

test('chunks behind the last one of a blob go when it is mended', async () => {
  const world = await startBlobs('postgres')
  const bytes = uniqueBytes(300_000)
  const { sha256 } = await world.blobs.store(sha256Of(bytes), bytes)
  await world.sql.query("insert into blob_chunks values ($1, 2, 'more')", [sha256])
  await world.store.put(sha256, bytes)
  expect((await readAll(world, sha256))?.equals(bytes)).toBe(true)
  await world.close()
})

test('a bucket refuses bytes that arrive changed', async () => {
  const world = await startBlobs('s3')
  const sha256 = sha256Of(uniqueBytes(10))
  await world.register(sha256, 10)
  await expect(world.store.put(sha256, uniqueBytes(10))).rejects.toMatchObject({ status: 503 })
  expect(await world.stored()).toBe(0)
  await world.close()
})
