// In-memory blob cache. One request reads a blob from its store and verifies its hash; concurrent requests share the
// result. Bytes that do not match the hash are never returned.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../cache/single-flight.ts'
import { AppError } from '../errors.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { createFairShare } from '../throttle/fair-share.ts'
import type { BlobRef, BlobStores } from './blob-store.ts'

/** Dependencies of the cache; `maxBytes` limits its size. */
export type BlobCacheDeps = { stores: BlobStores; log: Logger; metrics: Metrics; maxBytes: number }
/**
 * Returns a blob's bytes, which must not be modified. The read counts against the share of `owner`. If the bytes are
 * still in use, the caller passes them in `inUse`, and the cache does not read them again.
 */
export type ReadBlob = (ref: BlobRef, owner: string, inUse?: Buffer) => Promise<Buffer>

// A page loads up to 1,000 bundles concurrently; a waiting request is cheap.
const readSlotLimits = {
  capacity: 4,
  maxWaiting: 4_000,
  maxWaitMs: 30_000,
  overloadMessage: 'too many bundles are being read; try again',
}
// Memory of an entry in addition to its bytes.
const entryBytes = 400

/** Creates the cache. A hit costs a lookup in memory; a miss occupies one of 4 read slots, which projects share. */
export function createBlobCache({ stores, log, metrics, maxBytes }: BlobCacheDeps): ReadBlob {
  const memory = new LRUCache<string, Buffer>({
    // A size of 0 would disable the limit. A size of 1 is too small for any entry, so it disables the cache.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ length }) => length + entryBytes,
  })
  const readOnce = createSingleFlight<Buffer>()
  const readSlots = createFairShare(readSlotLimits)
  const count = metrics.cacheCounter('blob')
  const readBlob = async (ref: BlobRef): Promise<Buffer> => {
    const { sha256, store } = ref
    const bytes = await readVerified(stores, ref)
    if (bytes !== null) return bytes
    metrics.damagedBlobs.inc({ store })
    log.error({ sha256, store }, 'stored blob is missing or does not match its hash')
    throw new AppError('internal', 'the stored bundle is damaged; upload it again under a new version')
  }
  return async (ref, owner, inUse) => {
    const cachedBytes = memory.get(ref.sha256)
    const bytes = cachedBytes ?? inUse
    count(bytes === undefined ? 'miss' : 'hit')
    // The blob was evicted but is still in use, so caching it again costs no memory.
    if (cachedBytes === undefined && inUse !== undefined) memory.set(ref.sha256, inUse)
    if (bytes !== undefined) return bytes
    return readOnce(ref.sha256, async () => {
      const storedBytes = await readSlots.run([owner], () => readBlob(ref))
      memory.set(ref.sha256, storedBytes)
      return storedBytes
    })
  }
}

/** Returns the bytes of a blob, or null if the bytes are missing or do not match its size and hash. */
export const readVerified = (stores: BlobStores, ref: BlobRef): Promise<Buffer | null> =>
  joinPieces(stores.getStore(ref.store).read(ref.sha256), ref)

/** Joins the pieces; returns null if they do not match the size and hash of the blob. */
async function joinPieces(pieces: AsyncIterable<Buffer>, { sha256, size }: BlobRef): Promise<Buffer | null> {
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
