// What this process holds of uploads that are under way. A bundle is signed as a whole, so it is collected; what all of
// them hold together is bounded, and shared fairly between projects and between clients.
import { createHash } from 'node:crypto'
import { AppError, unavailable } from '../../platform/errors.ts'
import { createFairShare } from '../../platform/throttle/fair-share.ts'
import { createSpeedWatch } from '../../platform/throttle/transfer-speed.ts'

export type UploadMemory = ReturnType<typeof createUploadMemory>
export type Collector = {
  /** Adds a piece, which may be reused afterwards; waits for room, and throws 413 or 503 where it does not fit. */
  take: (piece: Uint8Array) => Promise<void>
  /** Rejects with 503 when the upload is ended because it is slow and others wait. */
  ended: Promise<never>
  /** What was taken; valid until `close`. From now on the upload is not ended. */
  collected: () => { bytes: Buffer; sha256: string }
  /** Gives the memory back, whatever became of the upload. */
  close: () => void
}
type MemoryLimits = { maxBytes: number; maxUploadBytes: number; maxWaitMs?: number }

// Longer than it takes to see that a transfer is slow.
const defaultMaxWaitMs = 8_000
const maxWaiting = 1_000

/** Room for the bytes of uploads; `maxBytes` for all of them, `maxUploadBytes` for one. */
export function createUploadMemory({ maxBytes, maxUploadBytes, maxWaitMs = defaultMaxWaitMs }: MemoryLimits) {
  const share = createFairShare({
    capacity: maxBytes,
    item: maxUploadBytes,
    maxWaiting,
    maxWaitMs,
    full: 'too many uploads are under way; try again when some of them have ended',
    endsSlow: true,
  })
  const watchSpeed = createSpeedWatch()
  return {
    bufferedBytes: () => share.used,

    /** Begins an upload to a project by a client. Nothing is reserved before it arrives. */
    open: (projectId: string, client: string): Collector => {
      const hash = createHash('sha256')
      // It grows where it is: no piece is copied twice, and what is given back is free at once.
      const room = new ArrayBuffer(0, { maxByteLength: maxUploadBytes })
      const all = new Uint8Array(room)
      const { promise: ended, reject: end } = Promise.withResolvers<never>()
      // Nobody listens any more once the upload has arrived.
      ended.catch(() => undefined)
      let [isOpen, hasArrived] = [true, false]
      const { isSlow, stop } = watchSpeed(() => room.byteLength)
      const close = (): void => {
        if (!isOpen) return
        isOpen = false
        stop()
        lease.release()
        room.resize(0)
      }
      const lease = share.begin([projectId, client], {
        isSlow: () => !hasArrived && isSlow(),
        end: () => {
          end(unavailable('the upload was too slow while others waited; try again'))
          close()
        },
      })
      return {
        take: async (piece) => {
          if (!isOpen) return
          const after = room.byteLength + piece.length
          if (after > maxUploadBytes) throw tooLarge(maxUploadBytes)
          await lease.add(piece.length)
          if (!isOpen) return
          room.resize(after)
          all.set(piece, after - piece.length)
          hash.update(piece)
        },
        ended,
        collected: () => {
          hasArrived = true
          return { bytes: Buffer.from(room, 0, room.byteLength), sha256: hash.digest('hex') }
        },
        close,
      }
    },
  }
}

const tooLarge = (maxUploadBytes: number): AppError =>
  new AppError('payload_too_large', `a bundle has at most ${maxUploadBytes} bytes; make it smaller`)
