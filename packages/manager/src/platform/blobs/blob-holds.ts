// Limits the blob bytes that responses keep in memory. A slow client keeps bytes long after the cache has evicted
// them, so their total is bounded and shared fairly between projects and between clients. A blob is counted once, even
// if several responses send it. Small blobs are counted too, because many of them can fill the memory.
import { type FairShare, type Lease, type Owners, createFairShare } from '../throttle/fair-share.ts'
import { createSpeedWatch } from '../throttle/transfer-speed.ts'
import type { ReadBlob } from './blob-cache.ts'
import type { BlobRef } from './blob-store.ts'

/** A response that sends the bytes. The bytes count toward the memory limit until the response closes. */
export type Holder = {
  onClose: (listener: () => void) => void
  /** Number of bytes that the client has read. */
  getTransferredBytes: () => number
  /** Closes the connection, because the client is slow and other clients wait for memory. */
  end: () => void
}
/**
 * Returns a blob's bytes, which must not be modified, and counts them until the holder closes. Throws 503 if
 * no memory is free.
 */
export type HoldBlob = (ref: BlobRef, owners: Owners, holder: Holder) => Promise<Buffer>
/** One response that holds a blob. */
type Hold = { owners: Owners; isSlow: () => boolean; end: () => void }
type HeldBlob = { lease: Lease; bytes: Buffer | undefined; holds: Set<Hold> }
type HoldsOptions = { read: ReadBlob; maxBytes: number; maxBlobBytes: number; maxWaitMs?: number }

// The wait must be long enough to detect a slow transfer.
const defaultMaxWaitMs = 8_000
const maxWaiting = 4_000

/** Creates a memory budget of `maxBytes`. Each blob has at most `maxBlobBytes` and is charged once. */
export function createBlobHolds({
  read,
  maxBytes,
  maxBlobBytes,
  maxWaitMs = defaultMaxWaitMs,
}: HoldsOptions) {
  const memoryShare = createFairShare({
    capacity: maxBytes,
    maxItemSize: maxBlobBytes,
    maxWaiting,
    maxWaitMs,
    overloadMessage: 'too many bundles are being sent; try again',
    canEndSlow: true,
  })
  const watchSpeed = createSpeedWatch()
  const allocations = createAllocations(memoryShare)
  const hold: HoldBlob = async (ref, owners, holder) => {
    const heldBlob = await allocations.acquire(ref, owners, holder)
    const { isSlow, stop } = watchSpeed(holder.getTransferredBytes)
    const ownHold: Hold = { owners, isSlow, end: holder.end }
    heldBlob.holds.add(ownHold)
    // The read and the response both count: bytes being read are in memory even after the client has disconnected.
    let useCount = 2
    const end = (): void => {
      useCount -= 1
      if (useCount !== 0) return
      stop()
      allocations.release(ref.sha256, heldBlob, ownHold)
    }
    holder.onClose(end)
    try {
      heldBlob.bytes = await read(ref, owners[0], heldBlob.bytes)
      return heldBlob.bytes
    } catch (error) {
      // The error response does not use the blob's bytes.
      useCount = 1
      throw error
    } finally {
      end()
    }
  }
  return { getBufferedBytes: () => memoryShare.usedAmount, hold }
}

/** Charges the memory of a blob once, even if several responses hold the blob. */
function createAllocations(memoryShare: FairShare) {
  const heldBlobs = new Map<string, HeldBlob>()
  /** Waiting leases, by blob. As soon as one lease for a blob gets memory, the other leases are not needed. */
  const waitingLeases = new Map<string, Set<Lease>>()

  const allocate = async ({ sha256, size }: BlobRef, owners: Owners, { onClose }: Holder): Promise<void> => {
    const holds: HeldBlob['holds'] = new Set()
    const lease = memoryShare.begin(owners, {
      isSlow: () => holds.values().every(({ isSlow }) => isSlow()),
      end: () => {
        for (const { end } of holds) end()
      },
    })
    onClose(() => {
      if (holds.size === 0) lease.release()
    })
    const blobLeases = waitingLeases.get(sha256) ?? new Set()
    waitingLeases.set(sha256, blobLeases.add(lease))
    try {
      await lease.add(size)
      if (heldBlobs.has(sha256)) lease.release()
      else heldBlobs.set(sha256, { lease, bytes: undefined, holds })
    } catch (error) {
      lease.release()
      if (!heldBlobs.has(sha256)) throw error
    } finally {
      blobLeases.delete(lease)
      if (blobLeases.size === 0) waitingLeases.delete(sha256)
    }
    for (const otherLease of blobLeases) otherLease.release()
  }
  return {
    acquire: async (ref: BlobRef, owners: Owners, holder: Holder): Promise<HeldBlob> => {
      for (;;) {
        const heldBlob = heldBlobs.get(ref.sha256)
        if (heldBlob !== undefined) return heldBlob
        await allocate(ref, owners, holder)
      }
    },
    release: (sha256: string, heldBlob: HeldBlob, hold: Hold): void => {
      const [firstHold] = heldBlob.holds
      heldBlob.holds.delete(hold)
      const [next] = heldBlob.holds
      if (next === undefined) {
        heldBlobs.delete(sha256)
        heldBlob.lease.release()
      } else if (firstHold === hold) heldBlob.lease.moveTo(next.owners)
    },
  }
}
