// A bound on what is held in memory at once: bodies and responses stay there for as long as the other side takes. One
// owner holds at most a share, so that the rest is left to the others.
import { unavailable } from '../errors.ts'

/** What one call holds. */
export type ByteReservation = { add(bytes: number): void; release(): void }

type ByteBudgetOptions = {
  maxBytes: number
  maxPerOwner: number
  /** What the 503 says. */
  full: string
  /** What comes while nothing is held is taken, however large it is: otherwise nobody would ever get it. */
  takesFirst?: true
}

export function createByteBudget({ maxBytes, maxPerOwner, full, takesFirst }: ByteBudgetOptions) {
  const byOwner = new Map<string, number>()
  let total = 0
  const count = (owner: string, bytes: number): void => {
    total += bytes
    const left = (byOwner.get(owner) ?? 0) + bytes
    if (left === 0) byOwner.delete(owner)
    else byOwner.set(owner, left)
  }
  /** Throws 503 when the owner, or all, would hold too much. */
  const assertRoom = (owner: string, bytes: number): void => {
    if (takesFirst === true && total === 0) return
    const isShareUsed = (byOwner.get(owner) ?? 0) + bytes > maxPerOwner
    if (isShareUsed || total + bytes > maxBytes) throw unavailable(full)
  }
  return {
    /** How many bytes are held now. */
    bufferedBytes: (): number => total,
    assertRoom,
    /** Begins a call of an owner. */
    begin: (owner: string): ByteReservation => {
      let own = 0
      return {
        add: (bytes) => {
          assertRoom(owner, bytes)
          own += bytes
          count(owner, bytes)
        },
        release: () => {
          count(owner, -own)
          own = 0
        },
      }
    },
  }
}
