// The beginning of a body that passes, for the log. Pure.

const maxCapturedBytes = 65_536

export type Captured = { add(chunk: Buffer): void; start(): Buffer; totalBytes(): number }

/** Keeps the first 64 KiB of what is added, and counts the rest. */
export function createCaptured(): Captured {
  // Copied into one piece: a chunk may be a view of much more memory, and a body may come byte by byte.
  let bytes: Buffer = Buffer.alloc(0)
  let [kept, total] = [0, 0]
  return {
    add: (chunk) => {
      total += chunk.length
      const wanted = Math.min(kept + chunk.length, maxCapturedBytes)
      if (wanted > bytes.length) bytes = grown(bytes, wanted)
      kept += chunk.copy(bytes, kept, 0, wanted - kept)
    },
    start: () => bytes.subarray(0, kept),
    totalBytes: () => total,
  }
}

function grown(bytes: Buffer, length: number): Buffer {
  const larger = Buffer.alloc(Math.min(Math.max(length, 2 * bytes.length), maxCapturedBytes))
  bytes.copy(larger)
  return larger
}
