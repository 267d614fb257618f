// This buffer captures the start of a forwarded body for the log.

const maxCapturedBytes = 65_536

export type Captured = { add(chunk: Buffer): void; start(): Buffer; totalBytes(): number }

/** Keeps the first 64 KiB of a body and counts all of its bytes. */
export function createCaptured(): Captured {
  // Chunks are copied into one buffer: a chunk can be a view of much more memory, and a body can arrive byte by byte.
  let bytes: Buffer = Buffer.alloc(0)
  let [kept, total] = [0, 0]
  return {
    add: (chunk) => {
      total += chunk.length
      const wanted = Math.min(kept + chunk.length, maxCapturedBytes)
      if (wanted > bytes.length) bytes = grow(bytes, wanted)
      kept += chunk.copy(bytes, kept, 0, wanted - kept)
    },
    start: () => bytes.subarray(0, kept),
    totalBytes: () => total,
  }
}

function grow(bytes: Buffer, length: number): Buffer {
  const larger = Buffer.alloc(Math.min(Math.max(length, 2 * bytes.length), maxCapturedBytes))
  bytes.copy(larger)
  return larger
}
