// What this process holds of uploads that are under way. A bundle is signed as a whole, so it is collected; what all of
// them hold together is bounded, and one project has at most half of it.
import { createHash } from 'node:crypto'
import { AppError } from '../../platform/errors.ts'
import { createByteBudget } from '../../platform/throttle/byte-budget.ts'

export type UploadMemory = ReturnType<typeof createUploadMemory>
export type Collector = {
  /** Adds a piece, which may be reused afterwards; throws 413 or 503 where it does not fit. */
  take(piece: Uint8Array): void
  /** What was taken; valid until `close`. */
  collected(): { bytes: Buffer; sha256: string }
  /** Gives the memory back, whatever became of the upload. */
  close(): void
}

/** Room for the bytes of uploads; `maxBytes` for all of them, `maxUploadBytes` for one. */
export function createUploadMemory({
  maxBytes,
  maxUploadBytes,
}: {
  maxBytes: number
  maxUploadBytes: number
}) {
  const budget = createByteBudget({
    maxBytes,
    maxPerOwner: maxBytes / 2,
    full: 'too many uploads are under way; try again when some of them have ended',
  })
  return {
    bufferedBytes: budget.bufferedBytes,

    /** `announced` is the length the client says its body has: without room for it, nothing is read of it. */
    open: (projectId: string, announced: number | null): Collector => {
      budget.assertRoom(projectId, Math.min(announced ?? 0, maxUploadBytes))
      const reserved = budget.begin(projectId)
      const hash = createHash('sha256')
      // It grows where it is: no piece is copied twice, and what is given back is free at once.
      const room = new ArrayBuffer(0, { maxByteLength: maxUploadBytes })
      const all = new Uint8Array(room)
      let isOpen = true
      return {
        take: (piece) => {
          if (!isOpen) return
          const { byteLength: before } = room
          if (before + piece.length > maxUploadBytes) throw tooLarge(maxUploadBytes)
          reserved.add(piece.length)
          room.resize(before + piece.length)
          all.set(piece, before)
          hash.update(piece)
        },
        collected: () => ({ bytes: Buffer.from(room, 0, room.byteLength), sha256: hash.digest('hex') }),
        close: () => {
          if (!isOpen) return
          isOpen = false
          reserved.release()
          room.resize(0)
        },
      }
    },
  }
}

const tooLarge = (maxUploadBytes: number): AppError =>
  new AppError('payload_too_large', `a bundle has at most ${maxUploadBytes} bytes; make it smaller`)
