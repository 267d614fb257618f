// Blobs that responses hold. A caller who does not read keeps the bytes in memory long after the cache has dropped them,
// so what all responses hold together is bounded, and one project has at most half of it. A blob counts once, however
// many responses send it, and whatever its size: many small ones that nobody reads fill memory like a few large ones.
import { type ByteReservation, createByteBudget } from '../throttle/byte-budget.ts'
import type { ReadBlob } from './blob-cache.ts'
import type { BlobRef } from './blob-store.ts'

/** What the bytes are for: they are held until it has closed. */
export type Holder = { on(event: 'close', listener: () => void): unknown }
/** Returns a blob's bytes, which must not be changed, and counts them until the holder closes; 503 without room. */
export type HoldBlob = (ref: BlobRef, owner: string, holder: Holder) => Promise<Buffer>
type Held = { sha256: string; reserved: ByteReservation; holders: number; bytes: Buffer | undefined }

/** Room for `maxBytes` of different blobs; it counts for the project that first asked for a blob. */
export function createBlobHolds({ read, maxBytes }: { read: ReadBlob; maxBytes: number }) {
  const budget = createByteBudget({
    maxBytes,
    maxPerOwner: maxBytes / 2,
    full: 'too many bundles are being sent; try again',
    // One may have been stored under larger limits.
    takesFirst: true,
  })
  const held = new Map<string, Held>()
  const begin = ({ sha256, size }: BlobRef, owner: string): Held => {
    const reserved = budget.begin(owner)
    reserved.add(size)
    const begun = { sha256, reserved, holders: 0, bytes: undefined }
    held.set(sha256, begun)
    return begun
  }
  const leave = (one: Held): void => {
    one.holders -= 1
    if (one.holders > 0) return
    held.delete(one.sha256)
    one.reserved.release()
  }
  const hold: HoldBlob = async (ref, owner, holder) => {
    const one = held.get(ref.sha256) ?? begin(ref, owner)
    one.holders += 1
    // The read and the response: what is being read is in memory, also when the one who asked for it has left.
    let uses = 2
    const end = (): void => {
      uses -= 1
      if (uses === 0) leave(one)
    }
    holder.on('close', end)
    try {
      one.bytes = await read(ref, owner, one.bytes)
      return one.bytes
    } catch (error) {
      // The response that says so holds no bytes.
      uses = 1
      throw error
    } finally {
      end()
    }
  }
  return { bufferedBytes: budget.bufferedBytes, hold }
}
