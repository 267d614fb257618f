// Blobs in memory. A blob is read from its store by one request at a time, compared with its hash, and then shared by
// all who ask for it; bytes that are not what the hash says are never handed out.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../cache/single-flight.ts'
import { AppError } from '../errors.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { createFairShare } from '../throttle/fair-share.ts'
import type { BlobRef, BlobStores } from './blob-store.ts'

export type BlobCacheDeps = { stores: BlobStores; log: Logger; metrics: Metrics; maxBytes: number }
/**
 * Returns a blob's bytes, which must not be changed; `owner` is whose share of the reading it counts for. Bytes that were
 * handed out before and are still in use can be given: they are not read again.
 */
export type ReadBlob = (ref: BlobRef, owner: string, inUse?: Buffer) => Promise<Buffer>

// A page loads its bundles at once, up to a thousand of them; who waits costs next to nothing.
const readers = {
  capacity: 4,
  maxWaiting: 4_000,
  maxWaitMs: 30_000,
  full: 'too many bundles are being read; try again',
}
// What an entry costs beside its bytes.
const entryBytes = 400

/** A hit costs a lookup in memory. A miss holds one of a few places while it reads; projects share them. */
export function createBlobCache({ stores, log, metrics, maxBytes }: BlobCacheDeps): ReadBlob {
  const memory = new LRUCache<string, Buffer>({
    // With 0 there would be no limit at all; nothing is as small as 1.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ length }) => length + entryBytes,
  })
  const readOnce = createSingleFlight<Buffer>()
  const places = createFairShare(readers)
  const count = metrics.cacheCounter('blob')
  const read = async (ref: BlobRef): Promise<Buffer> => {
    const { sha256, store } = ref
    const bytes = await readVerified(stores, ref)
    if (bytes !== null) return bytes
    metrics.damagedBlobs.inc({ store })
    log.error({ sha256, store }, 'the stored bytes of a blob are missing or are not what was stored')
    throw new AppError('internal', 'the stored bytes are damaged; upload them again under a new version')
  }
  return async (ref, owner, inUse) => {
    const kept = memory.get(ref.sha256)
    const bytes = kept ?? inUse
    count(bytes === undefined ? 'miss' : 'hit')
    // It was dropped, and is wanted after all; it is in memory anyway.
    if (kept === undefined && inUse !== undefined) memory.set(ref.sha256, inUse)
    if (bytes !== undefined) return bytes
    return readOnce(ref.sha256, async () => {
      const found = await places.run([owner], () => read(ref))
      memory.set(ref.sha256, found)
      return found
    })
  }
}

/** The bytes of a blob; null when they are missing or are not what was stored. */
export const readVerified = (stores: BlobStores, ref: BlobRef): Promise<Buffer | null> =>
  collect(stores.of(ref.store).read(ref.sha256), ref)

/** The bytes of the pieces; null when they are not those of the blob. */
async function collect(pieces: AsyncIterable<Buffer>, { sha256, size }: BlobRef): Promise<Buffer | null> {
  const bytes = Buffer.allocUnsafeSlow(size)
  const hash = createHash('sha256')
  let length = 0
  for await (const piece of pieces) {
    if (length + piece.length > size) return null
    piece.copy(bytes, length)
    length += piece.length
    hash.update(piece)
  }
  return length === size && hash.digest('hex') === sha256 ? bytes : null
}
