// Tests that row locks decide between concurrent uses and removals of a blob.
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BlobsWorld, readAll, sha256Of, uniqueBytes, startBlobs } from '../../../test/kit/blobs.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { addPackage, createProjects } from '../../../test/kit/package-rows.ts'
import { type StoreName, storeNames } from './blob-store.ts'
import { createBlobs } from './blobs.ts'

const old = -3_600_000
const removed = { status: 503, message: 'the stored bytes were removed concurrently; try again' }

describe.each(storeNames)('who comes first to a blob of the store %s', (store) => {
  let world: BlobsWorld
  let [ours, theirs] = ['', '']
  beforeAll(async () => {
    world = await startBlobs(store)
  })
  beforeEach(async () => {
    await world.sql.query('delete from projects')
    await world.blobs.sweep(old)
    ;[ours = '', theirs = ''] = await createProjects(world.sql, 2)
  })
  afterAll(() => world.close())

  const keep = async (bytes: Buffer) => world.blobs.store(sha256Of(bytes), bytes)
  /** Expects that every package has its bytes, and that no other bytes are stored. */
  const expectWhole = async (count: number): Promise<void> => {
    const { rows } = await world.sql.query<{ sha256: string }>(
      `select sha256 from blobs where unreferenced_since is null and not removing
         and exists (select from pilet_packages where hash = sha256)`,
    )
    expect(rows).toHaveLength(count)
    for (const { sha256 } of rows) {
      const bytes = await readAll(world, sha256)
      expect(bytes === null ? null : sha256Of(bytes)).toBe(sha256)
    }
    await world.blobs.sweep(old)
    expect(await world.stored()).toBe(count)
  }

  test.each(['first', 'second'])(
    'of two that keep the same, the %s releases, the other refers',
    async (who) => {
      const bytes = uniqueBytes(1_000)
      const [first, second] = [await keep(bytes), await keep(bytes)]
      await world.blobs.release(who === 'first' ? first : second)
      await addPackage(world, ours, who === 'first' ? second : first)
      await expectWhole(1)
    },
  )

  test('a sweep passes by what an upload is about to commit', async () => {
    const kept = await keep(uniqueBytes(1_000))
    await addPackage(world, ours, kept, async () => {
      expect(await world.blobs.sweep(old)).toBe(0)
    })
    await expectWhole(1)
  })

  test('a sweep passes by bytes that a package was inserted for and that are not referred to yet', async () => {
    const kept = await keep(uniqueBytes(1_000))
    const insert = `insert into pilet_packages
      (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec, enabled)
      values (gen_random_uuid(), $1, 'pilet', '1.0.0', '~', true, 'text/javascript', 1, $2, 'v2', true)`
    await whileLocked(world.databaseUrl, [insert, [ours, kept.sha256]], async () => {
      expect(await world.blobs.sweep(old)).toBe(0)
    })
  })

  test('what was swept before the upload could refer to it is answered 503', async () => {
    const kept = await keep(uniqueBytes(1_000))
    await world.sql.query('update blobs set removing = true')
    await expect(addPackage(world, ours, kept)).rejects.toMatchObject(removed)
    await expectWhole(0)
    await expect(
      world.database.db.transaction((tx) => world.blobs.reference(tx, kept)),
    ).rejects.toMatchObject(removed)
  })

  test('what was swept and is being stored again by another is not referred to by the first', async () => {
    const kept = await keep(uniqueBytes(1_000))
    await world.blobs.sweep(old)
    await world.register(kept.sha256, 1_000)
    await expect(addPackage(world, ours, kept)).rejects.toMatchObject(removed)
    await expectWhole(0)
  })

  test('who keeps bytes that are being removed waits, and stores them again', async () => {
    const bytes = uniqueBytes(1_000)
    await keep(bytes)
    const { stores, reached, resume } = slowRemoval(world)
    const sweep = createBlobs({ db: world.database.db, stores }).sweep(old)
    await reached
    const again = keep(bytes)
    await waitForLockWait(world.sql)
    resume()
    expect(await sweep).toBe(1)
    await addPackage(world, ours, await again)
    await expectWhole(1)
  })

  test('two sweeps at once remove each blob once', async () => {
    for (let count = 0; count < 8; count++) await keep(uniqueBytes(100 + count))
    const { stores, reached, resume, removals } = slowRemoval(world)
    const blobs = createBlobs({ db: world.database.db, stores })
    const first = blobs.sweep(old)
    await reached
    const second = blobs.sweep(old)
    resume()
    expect((await first) + (await second)).toBe(8)
    expect(removals.toSorted()).toEqual([...new Set(removals)].toSorted())
    await expectWhole(0)
  })

  test('a project goes while its bytes are uploaded to another one', async () => {
    const bytes = uniqueBytes(1_000)
    await addPackage(world, theirs, await keep(bytes))
    const kept = await keep(bytes)
    await whileLocked(world.databaseUrl, ['delete from projects where id = $1', [theirs]], async (commit) => {
      const upload = addPackage(world, ours, kept)
      await waitForLockWait(world.sql)
      await commit()
      await upload
    })
    await expectWhole(1)
  })

  test('bytes are uploaded to another project while the one that has them goes', async () => {
    const bytes = uniqueBytes(1_000)
    await addPackage(world, theirs, await keep(bytes))
    const kept = await keep(bytes)
    const deleter = new Client({ connectionString: world.databaseUrl })
    await deleter.connect()
    let deletion: Promise<unknown> = Promise.resolve()
    await addPackage(world, ours, kept, async () => {
      deletion = deleter.query('delete from projects where id = $1', [theirs])
      await waitForLockWait(world.sql)
    })
    await deletion
    await deleter.end()
    await expectWhole(1)
  })

  test('a project that goes during its own upload takes the bytes along', async () => {
    const kept = await keep(uniqueBytes(1_000))
    await whileLocked(world.databaseUrl, ['delete from projects where id = $1', [ours]], async (commit) => {
      // The rejection is caught immediately: it may occur before the commit returns.
      const refused = addPackage(world, ours, kept).then(
        () => null,
        (error: unknown) => error,
      )
      await waitForLockWait(world.sql)
      await commit()
      expect(await refused).toMatchObject({ constraint: 'pilet_packages_project_fkey' })
    })
    await expectWhole(0)
  })
})

test('a sweep reads the orphans by their index, however many blobs are in use', async () => {
  const world = await startBlobs('postgres')
  await world.sql.query(
    `insert into blobs (sha256, size, store, unreferenced_since)
     select encode(sha256(i::text::bytea), 'hex'), 1, 'postgres',
       case when i % 1000 = 0 then now() - interval '2 hours' end from generate_series(1, 20000) i`,
  )
  await world.sql.query('analyze blobs')
  await world.blobs.sweep(3_600_000)
  const text = world.statements.find((one) => one.includes('skip locked') && one.includes('limit')) ?? ''
  const { rows } = await world.sql.query<{ 'QUERY PLAN': string }>(`explain ${text}`, ['postgres', 1, 50])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('Index Scan using blobs_unreferenced_idx')
  expect(plan).toMatch(/Index Cond: \(unreferenced_since </)
  expect(plan).not.toContain('Seq Scan')
  await world.close()
})

/** Wraps the stores so that removals wait for `resume`. */
function slowRemoval({ stores }: BlobsWorld) {
  const started = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const removals: string[] = []
  const of = (name: StoreName) => {
    const inner = stores.getStore(name)
    const remove = async (sha256: string): Promise<void> => {
      removals.push(sha256)
      started.resolve()
      await held.promise
      await inner.remove(sha256)
    }
    return { ...inner, remove }
  }
  return {
    stores: { ...stores, getStore: of },
    reached: started.promise,
    resume: () => held.resolve(),
    removals,
  }
}
