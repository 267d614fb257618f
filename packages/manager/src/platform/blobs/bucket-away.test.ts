// Tests an unusable bucket: the errors that callers get, the log lines, and the secrets that never appear in them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BlobsWorld, sha256Of, uniqueBytes, startBlobs } from '../../../test/kit/blobs.ts'
import { startBlackholeProxy } from '../../../test/kit/blackhole-proxy.ts'
import { type Bucket, createBucket } from '../../../test/kit/s3.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { version } from '../../version.ts'
import { createMetrics } from '../metrics.ts'
import { createBlobCache } from './blob-cache.ts'
import type { BlobRef } from './blob-store.ts'

const unavailable = {
  status: 503,
  retryAfterSeconds: 1,
  message: 'the bundle store is unavailable; try again',
}
let bucket: Bucket
beforeAll(async () => {
  bucket = await createBucket()
})
afterAll(() => bucket.close())

/** Expects 503 from every operation on the bucket. The log contains the reason, but no key. */
async function expectUnavailable(world: BlobsWorld, failure: object): Promise<void> {
  const bytes = uniqueBytes(1_000)
  const sha256 = sha256Of(bytes)
  await expect(world.blobs.store(sha256, bytes)).rejects.toMatchObject(unavailable)
  const drain = async (): Promise<void> => {
    for await (const _ of world.store.read(sha256));
  }
  await expect(drain()).rejects.toMatchObject(unavailable)
  await expect(world.store.remove(sha256)).rejects.toMatchObject(unavailable)
  await expect(world.blobs.sweep(-1_000)).rejects.toMatchObject(unavailable)
  const lines = world.lines.filter((line) => line.includes('bucket request failed'))
  expect(lines).toHaveLength(4)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: 'warn', ...failure })
  const { secretAccessKey } = bucket.settings.credentials
  for (const secret of [secretAccessKey, 'wrong-secret', 'Signature=', 'AWS4-HMAC'])
    expect(world.lines.join('')).not.toContain(secret)
}

test('a service that does not listen', async () => {
  const world = await startBlobs('s3', { bucket, endpoint: `http://127.0.0.1:${await freePort()}` })
  await expectUnavailable(world, { code: 'ECONNREFUSED' })
  await world.close()
})

test('a service that refuses the key', async () => {
  const credentials = { ...bucket.settings.credentials, secretAccessKey: 'wrong-secret' }
  const refused = { ...bucket, settings: { ...bucket.settings, credentials } }
  const world = await startBlobs('s3', { bucket: refused })
  await expectUnavailable(world, { failure: 'SignatureDoesNotMatch', status: 403 })
  await world.close()
})

test('a bucket that does not exist', async () => {
  const missing = { ...bucket, settings: { ...bucket.settings, bucket: 'no-such-bucket' } }
  const world = await startBlobs('s3', { bucket: missing })
  await expectUnavailable(world, { failure: 'NoSuchBucket', status: 404 })
  await world.close()
})

test('what is in memory is served while the service is away, and everything once it is back', async () => {
  const { port, hostname } = new URL(bucket.settings.endpoint)
  const proxy = await startBlackholeProxy({ host: hostname, port: Number(port) })
  const world = await startBlobs('s3', { bucket, endpoint: `http://127.0.0.1:${proxy.port}` })
  const metrics = createMetrics(version)
  const read = createBlobCache({ stores: world.stores, log: world.log, metrics, maxBytes: 1_000_000 })
  const keep = async (): Promise<BlobRef> => {
    const bytes = uniqueBytes(1_000)
    const { sha256 } = await world.blobs.store(sha256Of(bytes), bytes)
    return { sha256, size: bytes.length, store: 's3' }
  }
  const [warm, cold] = [await keep(), await keep()]
  await read(warm, 'a')
  proxy.retarget(await freePort())
  proxy.reset()
  expect(sha256Of(await read(warm, 'a'))).toBe(warm.sha256)
  await expect(read(cold, 'a')).rejects.toMatchObject(unavailable)
  proxy.retarget(Number(port))
  expect(sha256Of(await read(cold, 'a'))).toBe(cold.sha256)
  // The kept-alive connection is closed; the next request opens a new one.
  proxy.reset()
  await keep()
  await world.close()
  await proxy.close()
})
