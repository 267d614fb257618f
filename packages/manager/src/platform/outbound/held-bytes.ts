// A bound on what is held in memory at once, over all calls: bodies that are needed whole wait for their last byte, and
// who sends it decides when it comes.
import { unavailable } from '../errors.ts'

/** What one call holds. */
export type Held = { add(bytes: number): void; release(): void }

/** A function that begins to hold for a call; adding throws 503 when all calls together would hold too much. */
export function createHeldBytes(maxBytes: number): () => Held {
  let total = 0
  return () => {
    let own = 0
    return {
      add: (bytes) => {
        if (total + bytes > maxBytes)
          throw unavailable('too many large bodies are being transformed; try again')
        own += bytes
        total += bytes
      },
      release: () => {
        total -= own
        own = 0
      },
    }
  }
}
