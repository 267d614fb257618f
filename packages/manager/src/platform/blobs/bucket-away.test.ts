// A bucket that cannot be used: what callers are answered, what the log says, and what it never says.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BlobsWorld, sha256Of, someBytes, startBlobs } from '../../../test/kit/blobs.ts'
import { startDarkProxy } from '../../../test/kit/dark-proxy.ts'
import { type Bucket, createBucket } from '../../../test/kit/s3.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { version } from '../../version.ts'
import { createMetrics } from '../metrics.ts'
import { createBlobCache } from './blob-cache.ts'
import type { BlobRef } from './blob-store.ts'

const away = {
  status: 503,
  retryAfterSeconds: 1,
  message: 'the store of bundles does not answer right now; try again',
}
let bucket: Bucket
beforeAll(async () => {
  bucket = await createBucket()
})
afterAll(() => bucket.close())

/** Everything that asks the bucket is answered 503; the log says why, without a key. */
async function expectAway(world: BlobsWorld, failure: object): Promise<void> {
  const bytes = someBytes(1_000)
  const sha256 = sha256Of(bytes)
  await expect(world.blobs.keep(sha256, bytes)).rejects.toMatchObject(away)
  const drain = async (): Promise<void> => {
    for await (const _ of world.store.read(sha256));
  }
  await expect(drain()).rejects.toMatchObject(away)
  await expect(world.store.remove(sha256)).rejects.toMatchObject(away)
  await expect(world.blobs.sweep(-1_000)).rejects.toMatchObject(away)
  const lines = world.lines.filter((line) => line.includes('the bucket did not do what was asked'))
  expect(lines).toHaveLength(4)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: 'warn', ...failure })
  const { secretAccessKey } = bucket.settings.credentials
  for (const secret of [secretAccessKey, 'wrong-secret', 'Signature=', 'AWS4-HMAC'])
    expect(world.lines.join('')).not.toContain(secret)
}

test('a service that does not listen', async () => {
  const world = await startBlobs('s3', { bucket, endpoint: `http://127.0.0.1:${await freePort()}` })
  await expectAway(world, { code: 'ECONNREFUSED' })
  await world.close()
})

test('a service that refuses the key', async () => {
  const credentials = { ...bucket.settings.credentials, secretAccessKey: 'wrong-secret' }
  const refused = { ...bucket, settings: { ...bucket.settings, credentials } }
  const world = await startBlobs('s3', { bucket: refused })
  await expectAway(world, { failure: 'SignatureDoesNotMatch', status: 403 })
  await world.close()
})

test('a bucket that does not exist', async () => {
  const missing = { ...bucket, settings: { ...bucket.settings, bucket: 'no-such-bucket' } }
  const world = await startBlobs('s3', { bucket: missing })
  await expectAway(world, { failure: 'NoSuchBucket', status: 404 })
  await world.close()
})

test('what is in memory is served while the service is away, and everything once it is back', async () => {
  const { port, hostname } = new URL(bucket.settings.endpoint)
  const proxy = await startDarkProxy({ host: hostname, port: Number(port) })
  const world = await startBlobs('s3', { bucket, endpoint: `http://127.0.0.1:${proxy.port}` })
  const metrics = createMetrics(version)
  const read = createBlobCache({ stores: world.stores, log: world.log, metrics, maxBytes: 1_000_000 })
  const keep = async (): Promise<BlobRef> => {
    const bytes = someBytes(1_000)
    const { sha256 } = await world.blobs.keep(sha256Of(bytes), bytes)
    return { sha256, size: bytes.length, store: 's3' }
  }
  const [warm, cold] = [await keep(), await keep()]
  await read(warm, 'a')
  proxy.retarget(await freePort())
  proxy.reset()
  expect(sha256Of(await read(warm, 'a'))).toBe(warm.sha256)
  await expect(read(cold, 'a')).rejects.toMatchObject(away)
  proxy.retarget(Number(port))
  expect(sha256Of(await read(cold, 'a'))).toBe(cold.sha256)
  // The connection that was kept is gone; the next request takes another one.
  proxy.reset()
  await keep()
  await world.close()
  await proxy.close()
})
