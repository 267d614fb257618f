// The beginning of a body that passes, for the log. Pure.

const maxCapturedBytes = 65_536

export type Captured = { add(chunk: Buffer): void; start(): Buffer; totalBytes(): number }

/** Keeps the first 64 KiB of what is added, and counts the rest. */
export function createCaptured(): Captured {
  const chunks: Buffer[] = []
  let [kept, total] = [0, 0]
  return {
    add: (chunk) => {
      total += chunk.length
      if (kept === maxCapturedBytes) return
      // A copy: the chunk may be a view of a much larger piece of memory.
      const part = Buffer.from(chunk.subarray(0, maxCapturedBytes - kept))
      kept += part.length
      chunks.push(part)
    },
    start: () => Buffer.concat(chunks),
    totalBytes: () => total,
  }
}
