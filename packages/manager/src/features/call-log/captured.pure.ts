// Captures the start of a forwarded body for the log.

const maxCapturedBytes = 65_536

export type BodyCapture = { add(chunk: Buffer): void; start(): Buffer; totalBytes(): number }

/** Keeps the first 64 KiB of a body and counts all of its bytes. */
export function createBodyCapture(): BodyCapture {
  // Chunks are copied into one buffer, because a chunk can reference a much larger buffer, and a body can
  // arrive byte by byte.
  let bytes: Buffer = Buffer.alloc(0)
  let [keptBytes, totalLength] = [0, 0]
  return {
    add: (chunk) => {
      totalLength += chunk.length
      const newLength = Math.min(keptBytes + chunk.length, maxCapturedBytes)
      if (newLength > bytes.length) bytes = grow(bytes, newLength)
      keptBytes += chunk.copy(bytes, keptBytes, 0, newLength - keptBytes)
    },
    start: () => bytes.subarray(0, keptBytes),
    totalBytes: () => totalLength,
  }
}

function grow(bytes: Buffer, length: number): Buffer {
  const larger = Buffer.alloc(Math.min(Math.max(length, 2 * bytes.length), maxCapturedBytes))
  bytes.copy(larger)
  return larger
}
