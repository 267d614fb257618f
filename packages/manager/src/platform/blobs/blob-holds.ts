// Blobs that responses hold. A caller who reads slowly keeps the bytes in memory long after the cache has dropped them, so
// what all responses hold together is bounded, and shared fairly between projects and between clients. A blob counts once,
// however many responses send it, and whatever its size: many small ones that nobody reads fill memory like a few large ones.
import { type FairShare, type Lease, type Owners, createFairShare } from '../throttle/fair-share.ts'
import { createSpeedWatch } from '../throttle/transfer-speed.ts'
import type { ReadBlob } from './blob-cache.ts'
import type { BlobRef } from './blob-store.ts'

/** A response that sends the bytes: they are held until it has closed. */
export type Holder = {
  onClose: (listener: () => void) => void
  /** How much of them the client has taken. */
  movedBytes: () => number
  /** Closes the connection: the client is slow, and others wait for the room. */
  end: () => void
}
/** Returns a blob's bytes, which must not be changed, and counts them until the holder closes; 503 without room. */
export type HoldBlob = (ref: BlobRef, owners: Owners, holder: Holder) => Promise<Buffer>
/** One response that holds a blob. */
type Hold = { owners: Owners; isSlow: () => boolean; end: () => void }
type Held = { lease: Lease; bytes: Buffer | undefined; holds: Set<Hold> }
type HoldsOptions = { read: ReadBlob; maxBytes: number; maxBlobBytes: number; maxWaitMs?: number }

// Longer than it takes to see that a transfer is slow.
const defaultMaxWaitMs = 8_000
const maxWaiting = 4_000

/** Room for `maxBytes` of different blobs, of at most `maxBlobBytes` each. */
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
    endsSlow: true,
  })
  const watchSpeed = createSpeedWatch()
  const rooms = createRooms(share)
  const hold: HoldBlob = async (ref, owners, holder) => {
    const one = await rooms.enter(ref, owners, holder)
    const { isSlow, stop } = watchSpeed(holder.movedBytes)
    const own: Hold = { owners, isSlow, end: holder.end }
    one.holds.add(own)
    // The read and the response: what is being read is in memory, also when the one who asked for it has left.
    let uses = 2
    const end = (): void => {
      uses -= 1
      if (uses !== 0) return
      stop()
      rooms.leave(ref.sha256, one, own)
    }
    holder.onClose(end)
    try {
      one.bytes = await read(ref, owners[0], one.bytes)
      return one.bytes
    } catch (error) {
      // The response that says so holds no bytes.
      uses = 1
      throw error
    } finally {
      end()
    }
  }
  return { bufferedBytes: () => share.used, hold }
}

/** The room that each blob has once, however many hold it. */
function createRooms(share: FairShare) {
  const held = new Map<string, Held>()
  /** What waits for room, by blob: as soon as one of them gets it, the others need none. */
  const waiting = new Map<string, Set<Lease>>()

  const make = async ({ sha256, size }: BlobRef, owners: Owners, { onClose }: Holder): Promise<void> => {
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
    enter: async (ref: BlobRef, owners: Owners, holder: Holder): Promise<Held> => {
      for (;;) {
        const one = held.get(ref.sha256)
        if (one !== undefined) return one
        await make(ref, owners, holder)
      }
    },
    leave: (sha256: string, one: Held, hold: Hold): void => {
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
