// Deadlines for requests to a store: 6 s, plus the transfer time of the bytes.

/** The running deadline of one request. */
export type Deadline = {
  /** Aborts when the deadline has passed. */
  signal: AbortSignal
  /** Adds the time that a transfer of these bytes may take. */
  extend(bytes: number): void
  end(): void
}

// The limit is lower than the idle timeout for transactions: a transaction stays open while bytes are removed.
const baseTimeoutMs = 6_000
const minBytesPerMs = 4_096

const getTransferMs = (bytes: number): number => bytes / minBytesPerMs

/** Starts the deadline of a request that sends `bytes`; the caller must call `end`. */
export function startDeadline(bytes: number): Deadline {
  const controller = new AbortController()
  const baseEnd = performance.now() + baseTimeoutMs
  const abortAfter = (ms: number): NodeJS.Timeout => setTimeout(() => controller.abort(), ms)
  let timer = abortAfter(baseTimeoutMs + getTransferMs(bytes))
  return {
    signal: controller.signal,
    extend: (moreBytes) => {
      clearTimeout(timer)
      timer = abortAfter(baseEnd - performance.now() + getTransferMs(bytes + moreBytes))
    },
    end: () => clearTimeout(timer),
  }
}
