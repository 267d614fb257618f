// Measures the speed of transfers over the last 5 s, sampled once per second.

const sampleIntervalMs = 1_000
const windowMs = 5_000
const slowBytesPerSecond = 65_536

type WatchedTransfer = { transferredBytes: () => number; samples: { at: number; bytes: number }[] }
/** Watches a transfer; `transferredBytes` returns the total number of bytes transferred so far. */
export type WatchSpeed = (transferredBytes: () => number) => {
  /** True if the transfer was slower than 64 KiB per second over the last 5 s. */
  isSlow: () => boolean
  /** Stops watching. */
  stop: () => void
}

/** The timer runs only while there are transfers, and does not keep the process alive. */
export function createSpeedWatch(): WatchSpeed {
  const watchedTransfers = new Set<WatchedTransfer>()
  let timer: NodeJS.Timeout | null = null
  const sampleAll = (): void => {
    const now = performance.now()
    for (const { transferredBytes, samples } of watchedTransfers) {
      samples.push({ at: now, bytes: transferredBytes() })
      while ((samples[1]?.at ?? now) <= now - windowMs) samples.shift()
    }
  }
  return (transferredBytes) => {
    const transfer: WatchedTransfer = { transferredBytes, samples: [{ at: performance.now(), bytes: 0 }] }
    watchedTransfers.add(transfer)
    timer ??= setInterval(sampleAll, sampleIntervalMs).unref()
    return {
      isSlow: () => {
        const [oldest] = transfer.samples
        const elapsedMs = performance.now() - (oldest?.at ?? Infinity)
        if (oldest === undefined || elapsedMs < windowMs) return false
        return ((transferredBytes() - oldest.bytes) * 1_000) / elapsedMs < slowBytesPerSecond
      },
      stop: () => {
        watchedTransfers.delete(transfer)
        if (watchedTransfers.size > 0 || timer === null) return
        clearInterval(timer)
        timer = null
      },
    }
  }
}
