// Limits the time spent waiting for a request body. Otherwise, a sender that stalls or sends very slowly could hold
// memory, a connection and a slot in the upstream pool indefinitely.
import { type AppError, badRequest } from '../errors.ts'

/** Limits for receiving one body. */
export type BodyRateLimits = {
  /** The total waiting time for one body. */
  timeoutMs: number
  /** Maximum length of one pause, and maximum lag of a body behind the minimum rate. */
  stallMs: number
}
/** Measures how fast a sender delivers a body. */
export type RateGuard = {
  /** Waits for the next part; throws 400 if it takes too long. */
  next<T>(part: Promise<T>): Promise<T>
  add(bytes: number): void
  /** True while the receiver waits for the sender. */
  isWaiting(): boolean
}

const minBytesPerMs = 16.384

/** The 400 error for a body that arrives too slowly. */
export const createBodyTooSlowError = (): AppError => badRequest('the request body arrived too slowly')

/** Counts only the time spent waiting for the sender. The sender is not slow if the receiver blocks it. */
export function createRateGuard({ timeoutMs, stallMs }: BodyRateLimits): RateGuard {
  let [waitedMs, receivedBytes, isWaiting] = [0, 0, false]
  return {
    next: async (part) => {
      const startedAt = performance.now()
      const remainingMs = Math.min(
        stallMs,
        stallMs + receivedBytes / minBytesPerMs - waitedMs,
        timeoutMs - waitedMs,
      )
      const { promise: timeout, reject } = Promise.withResolvers<never>()
      // If the event loop was blocked, data that arrived in that time is read first.
      const timer = setTimeout(
        () => setImmediate(() => reject(createBodyTooSlowError())),
        Math.max(0, remainingMs),
      )
      isWaiting = true
      try {
        return await Promise.race([part, timeout])
      } finally {
        isWaiting = false
        clearTimeout(timer)
        waitedMs += performance.now() - startedAt
      }
    },
    add: (bytes) => void (receivedBytes += bytes),
    isWaiting: () => isWaiting,
  }
}
