// Limits the blob bytes that responses keep in memory. A slow client keeps bytes long after the cache has evicted them,
// so their total is bounded and shared fairly between projects and between clients. A blob counts once, however many
// responses send it. Small blobs count too: many of them fill memory like a few large ones.
import { type FairShare, type Lease, type Owners, createFairShare } from '../throttle/fair-share.ts'
import { createSpeedWatch } from '../throttle/transfer-speed.ts'
import type { ReadBlob } from './blob-cache.ts'
import type { BlobRef } from './blob-store.ts'

/** A response that sends the bytes; they count until it has closed. */
export type Holder = {
  onClose: (listener: () => void) => void
  /** Number of bytes that the client has read. */
  movedBytes: () => number
  /** Closes the connection, because the client is slow and others wait for room. */
  end: () => void
}
/**
 * Returns a blob's bytes, which must not be modified, and counts them until the holder closes; throws 503 without room.
 */
export type HoldBlob = (ref: BlobRef, owners: Owners, holder: Holder) => Promise<Buffer>
/** One response that holds a blob. */
type Hold = { owners: Owners; isSlow: () => boolean; end: () => void }
type Held = { lease: Lease; bytes: Buffer | undefined; holds: Set<Hold> }
type HoldsOptions = { read: ReadBlob; maxBytes: number; maxBlobBytes: number; maxWaitMs?: number }

// The wait is longer than it takes to detect a slow transfer.
const defaultMaxWaitMs = 8_000
const maxWaiting = 4_000

/** Creates room for `maxBytes` of different blobs, of at most `maxBlobBytes` each. */
export function createBlobHolds({
  read,
  maxBytes,
  maxBlobBytes,
  maxWaitMs = defaultMaxWaitMs,
}: HoldsOptions) {
  const share = createFairShare({
    capacity: maxBytes,
    item: maxBlobBytes,
    maxWaiting,
    maxWaitMs,
    full: 'too many bundles are being sent; try again',
    canEndSlow: true,
  })
  const watchSpeed = createSpeedWatch()
  const allocations = createAllocations(share)
  const hold: HoldBlob = async (ref, owners, holder) => {
    const one = await allocations.acquire(ref, owners, holder)
    const { isSlow, stop } = watchSpeed(holder.movedBytes)
    const own: Hold = { owners, isSlow, end: holder.end }
    one.holds.add(own)
    // The read and the response both count: bytes being read are in memory even after the client has disconnected.
    let uses = 2
    const end = (): void => {
      uses -= 1
      if (uses !== 0) return
      stop()
      allocations.release(ref.sha256, one, own)
    }
    holder.onClose(end)
    try {
      one.bytes = await read(ref, owners[0], one.bytes)
      return one.bytes
    } catch (error) {
      // The error response holds no bytes.
      uses = 1
      throw error
    } finally {
      end()
    }
  }
  return { bufferedBytes: () => share.used, hold }
}

/** Allocates room once per blob, however many responses hold it. */
function createAllocations(share: FairShare) {
  const held = new Map<string, Held>()
  /** Leases that wait for room, by blob: as soon as one of them gets room, the others no longer need any. */
  const waiting = new Map<string, Set<Lease>>()

  const allocate = async ({ sha256, size }: BlobRef, owners: Owners, { onClose }: Holder): Promise<void> => {
    const holds: Held['holds'] = new Set()
    const lease = share.begin(owners, {
      isSlow: () => holds.values().every(({ isSlow }) => isSlow()),
      end: () => {
        for (const { end } of holds) end()
      },
    })
    onClose(() => {
      if (holds.size === 0) lease.release()
    })
    const others = waiting.get(sha256) ?? new Set()
    waiting.set(sha256, others.add(lease))
    try {
      await lease.add(size)
      if (held.has(sha256)) lease.release()
      else held.set(sha256, { lease, bytes: undefined, holds })
    } catch (error) {
      lease.release()
      if (!held.has(sha256)) throw error
    } finally {
      others.delete(lease)
      if (others.size === 0) waiting.delete(sha256)
    }
    for (const other of others) other.release()
  }
  return {
    acquire: async (ref: BlobRef, owners: Owners, holder: Holder): Promise<Held> => {
      for (;;) {
        const one = held.get(ref.sha256)
        if (one !== undefined) return one
        await allocate(ref, owners, holder)
      }
    },
    release: (sha256: string, one: Held, hold: Hold): void => {
      const [counted] = one.holds
      one.holds.delete(hold)
      const [next] = one.holds
      if (next === undefined) {
        held.delete(sha256)
        one.lease.release()
      } else if (counted === hold) one.lease.moveTo(next.owners)
    },
  }
}
