// Tests gateways that hang or send slowly: no caller waits longer than the deadline, and late effects do no harm.
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type BlobsWorld, readAll, sha256Of, uniqueBytes, startBlobs } from '../../../test/kit/blobs.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { addPackage, createProjects } from '../../../test/kit/package-rows.ts'
import { type Bucket, createBucket } from '../../../test/kit/s3.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type S3Server, startS3 } from '@manager/harness/engines/s3.ts'

let [s3, bucket, world] = [{} as S3Server, {} as Bucket, {} as BlobsWorld]
beforeAll(async () => {
  s3 = await startS3(mkdtempSync(`${tmpdir()}/manager-s3-`), await freePort())
  bucket = await createBucket(s3)
  world = await startBlobs('s3', { bucket })
})
afterEach(() => s3.signal('SIGCONT'))
afterAll(async () => {
  await world.close()
  bucket.close()
  await s3.stop()
})

const away = { status: 503, retryAfterSeconds: 1 }
const drain = async ({ store }: BlobsWorld, sha256: string): Promise<void> => {
  for await (const _ of store.read(sha256));
}
const keep = async (bytes: Buffer): Promise<string> =>
  (await world.blobs.store(sha256Of(bytes), bytes)).sha256
const timed = async (work: Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  await expect(work).rejects.toMatchObject(away)
  return performance.now() - begin
}

test('a gateway that hangs is waited for no longer than six seconds and a little for the bytes', async () => {
  const stored = await keep(uniqueBytes(1_000_000))
  s3.signal('SIGSTOP')
  const mebibytes = loadSize(4, 16)
  const large = uniqueBytes(mebibytes * 1_048_576)
  const times = await Promise.all([
    timed(drain(world, stored)),
    timed(world.store.remove(stored)),
    timed(world.blobs.store(sha256Of(large), large)),
  ])
  for (const [index, ms] of times.entries())
    expect(ms).toBeLessThan(index === 2 ? 7_500 + 250 * mebibytes : 7_500)
})

test('an object that is sent slowly is given up too', async () => {
  const sha256 = await keep(uniqueBytes(1_000))
  const slow = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': '1048576' })
    const timer = setInterval(() => response.write('x'), 100)
    response.on('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const { port } = slow.address() as AddressInfo
  const other = await startBlobs('s3', { bucket, endpoint: `http://127.0.0.1:${port}` })
  await other.register(sha256, 1_000)
  expect(await timed(drain(other, sha256))).toBeLessThan(7_500)
  await other.close()
  slow.closeAllConnections()
  slow.close()
})

test('a removal that the gateway carries out late does not meet bytes that were stored again', async () => {
  const bytes = uniqueBytes(1_000)
  const sha256 = await keep(bytes)
  s3.signal('SIGSTOP')
  await expect(world.blobs.sweep(-1_000)).rejects.toMatchObject(away)
  s3.signal('SIGCONT')
  for (let round = 0; round < 20; round++) {
    await keep(bytes)
    expect((await readAll(world, sha256))?.equals(bytes)).toBe(true)
  }
})

test('uploads, packages that go and sweeps, all at once: whatever a package has is whole', async () => {
  const [project = ''] = await createProjects(world.sql, 1)
  const all = Array.from({ length: 6 }, () => uniqueBytes(2_000))
  const lost: string[] = []
  let stored = 0
  // The test runs for 15 s, because failures occur only if a sweep runs in the middle of an upload, which is rare.
  const end = performance.now() + 15_000
  const whole = async (): Promise<void> => {
    while (performance.now() < end) {
      const bytes = all[Math.floor(Math.random() * all.length)] as Buffer
      try {
        const kept = await world.blobs.store(sha256Of(bytes), bytes)
        if (Math.random() < 0.3) await world.blobs.release(kept)
        else {
          await addPackage(world, project, kept, async () => {
            if ((await readAll(world, kept.sha256))?.equals(bytes) !== true) lost.push(kept.sha256)
          })
          stored++
        }
      } catch (error) {
        // The blob was removed between the steps.
        const { status, constraint } = error as { status?: number; constraint?: string }
        if (status !== 503 && constraint !== 'pilet_packages_hash_fkey') throw error
      }
    }
  }
  const during = async (work: () => Promise<unknown>): Promise<void> => {
    while (performance.now() < end) await work()
  }
  const oneGone =
    'delete from pilet_packages where id in (select id from pilet_packages order by random() limit 2)'
  await Promise.all([
    whole(),
    whole(),
    whole(),
    during(() => world.sql.query(oneGone)),
    during(() => world.blobs.sweep(0)),
  ])
  const { rows } = await world.sql.query<{ hash: string }>('select distinct hash from pilet_packages')
  for (const { hash } of rows) expect(sha256Of((await readAll(world, hash)) ?? Buffer.alloc(0))).toBe(hash)
  await world.sql.query('delete from pilet_packages')
  await world.blobs.sweep(-60_000)
  expect(await world.stored()).toBe(0)
  expect(lost).toEqual([])
  expect(stored).toBeGreaterThan(20)
})
