// How long a body may be waited for. A sender that stalls or trickles would otherwise hold memory, a connection and a
// place in the upstream's pool for as long as it likes.
import { type AppError, badRequest } from '../errors.ts'

export type PaceLimits = {
  /** The total waiting time for one body. */
  timeoutMs: number
  /** One pause; and what a body may be behind the least rate. */
  stallMs: number
}
export type Pace = {
  /** Waits for the next part; throws 400 when it takes too long. */
  next<T>(part: Promise<T>): Promise<T>
  add(bytes: number): void
  /** True while the sender is waited for. */
  isWaiting(): boolean
}

const minBytesPerMs = 16.384

export const sentTooSlowly = (): AppError => badRequest('the caller sent its body too slowly')

/** Counts only the time spent waiting for the sender: a sender that the receiver blocks is not slow. */
export function createPace({ timeoutMs, stallMs }: PaceLimits): Pace {
  let [waitedMs, received, isWaiting] = [0, 0, false]
  return {
    next: async (part) => {
      const started = performance.now()
      const leftMs = Math.min(stallMs, stallMs + received / minBytesPerMs - waitedMs, timeoutMs - waitedMs)
      const { promise: overdue, reject } = Promise.withResolvers<never>()
      // After a pause of this process, what has arrived meanwhile is read first.
      const timer = setTimeout(() => setImmediate(() => reject(sentTooSlowly())), Math.max(0, leftMs))
      isWaiting = true
      try {
        return await Promise.race([part, overdue])
      } finally {
        isWaiting = false
        clearTimeout(timer)
        waitedMs += performance.now() - started
      }
    },
    add: (bytes) => void (received += bytes),
    isWaiting: () => isWaiting,
  }
}
