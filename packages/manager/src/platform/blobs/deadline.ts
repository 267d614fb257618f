// How long a service that keeps bytes may take: a few seconds, and longer for many bytes.

export type Deadline = {
  /** Aborts what takes longer. */
  signal: AbortSignal
  /** Adds the time that the bytes may take. */
  extend(bytes: number): void
  end(): void
}

// Below the time a transaction may be idle: one waits while bytes are removed.
const answerMs = 6_000
const leastBytesPerMs = 4_096

const msOf = (bytes: number): number => bytes / leastBytesPerMs

export function startDeadline(bytes: number): Deadline {
  const controller = new AbortController()
  const ends = performance.now() + answerMs
  const abortAfter = (ms: number): NodeJS.Timeout => setTimeout(() => controller.abort(), ms)
  let timer = abortAfter(answerMs + msOf(bytes))
  return {
    signal: controller.signal,
    extend: (more) => {
      clearTimeout(timer)
      timer = abortAfter(ends - performance.now() + msOf(bytes + more))
    },
    end: () => clearTimeout(timer),
  }
}
