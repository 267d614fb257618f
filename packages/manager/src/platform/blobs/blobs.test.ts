// Tests the lifecycle of blobs: they are kept, referenced, released, swept, and recovered after an interruption.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BlobsWorld, readAll, sha256Of, uniqueBytes, startBlobs } from '../../../test/kit/blobs.ts'
import { addPackage, createProjects } from '../../../test/kit/package-rows.ts'
import { type StoreName, storeNames } from './blob-store.ts'
import { createBlobs } from './blobs.ts'

const hour = 3_600_000

describe.each(storeNames)('the life of a blob in the store %s', (store) => {
  let world: BlobsWorld
  let projectId = ''
  beforeAll(async () => {
    world = await startBlobs(store)
    const [id = ''] = await createProjects(world.sql, 1)
    projectId = id
  })
  beforeEach(async () => {
    await world.sql.query('delete from pilet_packages')
    await world.blobs.sweep(-1_000)
  })
  afterAll(() => world.close())

  const keep = async (bytes = uniqueBytes(300_000)) => world.blobs.store(sha256Of(bytes), bytes)
  const rows = async (): Promise<{ sha256: string; since: unknown; removing: boolean }[]> => {
    const found = await world.sql.query<{ sha256: string; since: unknown; removing: boolean }>(
      'select sha256, unreferenced_since as since, removing from blobs order by 1',
    )
    return found.rows
  }
  const age = (sha256: string, ms: number) =>
    world.sql.query(
      `update blobs set unreferenced_since = clock_timestamp() - $2 * interval '1 ms' where sha256 = $1`,
      [sha256, ms],
    )

  test('what is kept and not referred to is released at once, bytes and row', async () => {
    const kept = await keep()
    expect(await world.stored()).toBe(1)
    await world.blobs.release(kept)
    expect([await rows(), await world.stored()]).toEqual([[], 0])
  })

  test('what a package has is neither released nor swept', async () => {
    const kept = await keep()
    await addPackage(world, projectId, kept)
    await world.blobs.release(kept)
    expect(await world.blobs.sweep(-hour)).toBe(0)
    expect(await rows()).toEqual([{ sha256: kept.sha256, since: null, removing: false }])
    expect(await readAll(world, kept.sha256)).not.toBeNull()
  })

  test('the same bytes are kept once, and stay until the last package of them is gone', async () => {
    const bytes = uniqueBytes(1_000)
    await addPackage(world, projectId, await keep(bytes))
    await addPackage(world, projectId, await keep(bytes))
    expect(await world.stored()).toBe(1)
    const remove = 'delete from pilet_packages where id in (select id from pilet_packages limit 1)'
    await world.sql.query(remove)
    expect(await world.blobs.sweep(-hour)).toBe(0)
    await world.sql.query(remove)
    expect(await world.blobs.sweep(hour)).toBe(0)
    expect(await world.blobs.sweep(-hour)).toBe(1)
    expect([await rows(), await world.stored()]).toEqual([[], 0])
  })

  test('a sweep goes by the clock of the database and leaves what is younger than the grace', async () => {
    const [old, young] = [await keep(), await keep()]
    await age(old.sha256, 2 * hour)
    await age(young.sha256, hour / 2)
    expect(await world.blobs.sweep(hour)).toBe(1)
    expect((await rows()).map(({ sha256 }) => sha256)).toEqual([young.sha256])
    expect(await world.stored()).toBe(1)
  })

  test('keeping the same bytes again makes an orphan young', async () => {
    const bytes = uniqueBytes(1_000)
    const { sha256 } = await keep(bytes)
    await age(sha256, 2 * hour)
    await keep(bytes)
    expect(await world.blobs.sweep(hour)).toBe(0)
  })

  test('a sweep takes more than one batch, of both stores', async () => {
    await world.sql.query(
      `insert into blobs (sha256, size, store, unreferenced_since)
       select encode(sha256(i::text::bytea), 'hex'), 1, $1, now() - interval '2 hours' from generate_series(1, 120) i`,
      [store],
    )
    expect(await world.blobs.sweep(hour)).toBe(120)
    expect(await rows()).toEqual([])
  })

  test.each(['before', 'after'])(
    'a removal that was interrupted %s the bytes were gone is finished by the next sweep',
    async (when) => {
      const { sha256 } = await keep()
      await world.sql.query('update blobs set removing = true where sha256 = $1', [sha256])
      await age(sha256, 2 * hour)
      if (when === 'after') await world.damage(sha256, null)
      expect(await world.blobs.sweep(hour)).toBe(1)
      expect([await rows(), await world.stored()]).toEqual([[], 0])
    },
  )

  test('a removal that was interrupted is finished by whoever keeps the same bytes again', async () => {
    const bytes = uniqueBytes(1_000)
    const { sha256 } = await keep(bytes)
    await world.sql.query('update blobs set removing = true where sha256 = $1', [sha256])
    await addPackage(world, projectId, await keep(bytes))
    expect((await readAll(world, sha256))?.equals(bytes)).toBe(true)
    expect(await world.stored()).toBe(1)
  })

  test('a store that fails makes the sweep fail, and nothing is lost', async () => {
    const kept = await keep()
    const { sha256 } = kept
    await age(sha256, 2 * hour)
    let isUnreachable = true
    const of = (name: StoreName) => {
      const inner = world.stores.getStore(name)
      const remove = (one: string): Promise<void> =>
        isUnreachable ? Promise.reject(new Error('away')) : inner.remove(one)
      return { ...inner, remove }
    }
    const blobs = createBlobs({ db: world.database.db, stores: { ...world.stores, getStore: of } })
    await expect(blobs.sweep(hour)).rejects.toThrow('away')
    expect(await rows()).toMatchObject([{ sha256, removing: true }])
    expect(await readAll(world, sha256)).not.toBeNull()
    isUnreachable = false
    expect(await blobs.sweep(hour)).toBe(1)
    expect(await world.stored()).toBe(0)
  })

  test('blobs that cannot be removed do not keep the others from being swept', async () => {
    const stuck = new Set<string>()
    for (let index = 0; index < 8; index++) {
      const { sha256 } = await keep()
      await age(sha256, (10 - index) * hour)
      if (index < 5) stuck.add(sha256)
    }
    const of = (name: StoreName) => {
      const inner = world.stores.getStore(name)
      const remove = (one: string): Promise<void> =>
        stuck.has(one) ? Promise.reject(new Error('stuck')) : inner.remove(one)
      return { ...inner, remove }
    }
    const blobs = createBlobs({ db: world.database.db, stores: { ...world.stores, getStore: of } })
    for (let runs = 0; runs < 2; runs++) await expect(blobs.sweep(hour)).rejects.toThrow('stuck')
    expect((await rows()).map(({ sha256 }) => sha256).toSorted()).toEqual([...stuck].toSorted())
    expect(await world.blobs.sweep(hour)).toBe(5)
  })

  test('a sweep ends early when its process does', async () => {
    for (let index = 0; index < 3; index++) await age((await keep()).sha256, 2 * hour)
    const ending = new AbortController()
    const of = (name: StoreName) => {
      const inner = world.stores.getStore(name)
      const remove = (one: string): Promise<void> => {
        ending.abort()
        return inner.remove(one)
      }
      return { ...inner, remove }
    }
    const blobs = createBlobs({ db: world.database.db, stores: { ...world.stores, getStore: of } })
    expect(await blobs.sweep(hour, ending.signal)).toBe(1)
    expect(await world.blobs.sweep(hour)).toBe(2)
  })

  test('bytes that come back after a removal have another place than the removed ones', async () => {
    const bytes = uniqueBytes(1_000)
    const generation = async (): Promise<unknown> =>
      (await world.sql.query('select generation from blobs')).rows[0]
    await world.blobs.release(await keep(bytes))
    await keep(bytes)
    const first = await generation()
    await world.blobs.sweep(-hour)
    await keep(bytes)
    expect(await generation()).not.toEqual(first)
  })
})

test('a store that fails does not keep the other one from being swept', async () => {
  const world = await startBlobs('postgres')
  const old = "now() - interval '2 hours'"
  await world.sql.query(
    `insert into blobs (sha256, size, store, unreferenced_since)
     values (repeat('a', 64), 1, 's3', ${old}), (repeat('b', 64), 1, 'postgres', ${old})`,
  )
  await expect(world.blobs.sweep(hour)).rejects.toThrow('set pilets.s3_bucket again')
  const { rows } = await world.sql.query('select store, removing from blobs')
  expect(rows).toEqual([{ store: 's3', removing: true }])
  await world.close()
})

test('bytes that were left in a bucket which is no longer configured can be stored again', async () => {
  const world = await startBlobs('postgres')
  for (const removing of [false, true]) {
    const bytes = uniqueBytes(1_000)
    const sha256 = sha256Of(bytes)
    await world.sql.query("insert into blobs (sha256, size, store, removing) values ($1, 1000, 's3', $2)", [
      sha256,
      removing,
    ])
    await world.blobs.store(sha256, bytes)
    expect((await readAll(world, sha256))?.equals(bytes)).toBe(true)
  }
  expect(await world.blobs.sweep(-hour)).toBe(2)
  await world.close()
})
