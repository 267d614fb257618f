// A bound on what is held in memory at once, over all calls: bodies that are needed whole wait for their last byte,
// whose time the sender decides. One owner holds at most a share, so that the rest is left to the others.
import { unavailable } from '../errors.ts'

/** What one call holds. */
export type ByteReservation = { add(bytes: number): void; release(): void }

/** Returns a function that begins a call of an owner; `add` throws 503 when the owner, or all, would hold too much. */
export function createByteBudget(limits: {
  maxBytes: number
  maxPerOwner: number
}): (owner: string) => ByteReservation {
  const byOwner = new Map<string, number>()
  let total = 0
  const count = (owner: string, bytes: number): void => {
    total += bytes
    const left = (byOwner.get(owner) ?? 0) + bytes
    if (left === 0) byOwner.delete(owner)
    else byOwner.set(owner, left)
  }
  return (owner) => {
    let own = 0
    return {
      add: (bytes) => {
        const isShareUsed = (byOwner.get(owner) ?? 0) + bytes > limits.maxPerOwner
        if (isShareUsed || total + bytes > limits.maxBytes)
          throw unavailable('too many large bodies are being transformed; try again')
        own += bytes
        count(owner, bytes)
      },
      release: () => {
        count(owner, -own)
        own = 0
      },
    }
  }
}
