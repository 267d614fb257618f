// This service manages the memory for uploads in progress. A bundle is signed as a whole, so it must be buffered. The
// total is limited and shared fairly between projects and between clients.
import { createHash } from 'node:crypto'
import { AppError, unavailable } from '../../platform/errors.ts'
import { createFairShare } from '../../platform/throttle/fair-share.ts'
import { createSpeedWatch } from '../../platform/throttle/transfer-speed.ts'

export type UploadMemory = ReturnType<typeof createUploadMemory>
export type Collector = {
  /**
   * Copies a piece, so that the caller may reuse it. Waits for memory; throws 413 if the file is too large and 503 on
   * timeout.
   */
  take: (piece: Uint8Array) => Promise<void>
  /** Rejects with 503 if the upload is aborted because it is slow while other uploads wait. */
  abortPromise: Promise<never>
  /** Returns the collected bytes, valid until `close`. Afterwards the upload is no longer aborted. */
  getCollected: () => { bytes: Buffer; sha256: string }
  /** Releases the memory, regardless of the result of the upload. */
  close: () => void
}
type MemoryLimits = { maxBytes: number; maxUploadBytes: number; maxWaitMs?: number }

// The wait must be long enough to detect a slow transfer.
const defaultMaxWaitMs = 8_000
const maxWaiting = 1_000

/** Creates the memory budget: `maxBytes` for all uploads, `maxUploadBytes` for one. */
export function createUploadMemory({ maxBytes, maxUploadBytes, maxWaitMs = defaultMaxWaitMs }: MemoryLimits) {
  const memoryShare = createFairShare({
    capacity: maxBytes,
    maxItemSize: maxUploadBytes,
    maxWaiting,
    maxWaitMs,
    overloadMessage: 'too many uploads are in progress; try again later',
    canEndSlow: true,
  })
  const watchSpeed = createSpeedWatch()
  return {
    getBufferedBytes: () => memoryShare.usedAmount,

    /** Starts an upload. Memory is reserved only as bytes arrive. */
    open: (projectId: string, client: string): Collector => {
      const hash = createHash('sha256')
      // A resizable buffer grows in place: no piece is copied twice, and memory is freed as soon as it is
      // released.
      const buffer = new ArrayBuffer(0, { maxByteLength: maxUploadBytes })
      const bufferView = new Uint8Array(buffer)
      const { promise: abortPromise, reject: end } = Promise.withResolvers<never>()
      // Prevents an unhandled rejection after the upload has arrived and no caller awaits `abortPromise`.
      abortPromise.catch(() => undefined)
      let [isOpen, hasArrived] = [true, false]
      const { isSlow, stop } = watchSpeed(() => buffer.byteLength)
      const close = (): void => {
        if (!isOpen) return
        isOpen = false
        stop()
        lease.release()
        buffer.resize(0)
      }
      const lease = memoryShare.begin([projectId, client], {
        isSlow: () => !hasArrived && isSlow(),
        end: () => {
          end(unavailable('the upload was aborted because it was too slow while others waited; try again'))
          close()
        },
      })
      return {
        take: async (piece) => {
          if (!isOpen) return
          const newLength = buffer.byteLength + piece.length
          if (newLength > maxUploadBytes) throw createTooLargeError(maxUploadBytes)
          await lease.add(piece.length)
          if (!isOpen) return
          buffer.resize(newLength)
          bufferView.set(piece, newLength - piece.length)
          hash.update(piece)
        },
        abortPromise,
        getCollected: () => {
          hasArrived = true
          return { bytes: Buffer.from(buffer, 0, buffer.byteLength), sha256: hash.digest('hex') }
        },
        close,
      }
    },
  }
}

const createTooLargeError = (maxUploadBytes: number): AppError =>
  new AppError(
    'payload_too_large',
    `the bundle exceeds the limit of ${maxUploadBytes} bytes; upload a smaller bundle`,
  )
