// How fast transfers move: what has moved over the last five seconds, looked at once a second.

const sampleEveryMs = 1_000
const windowMs = 5_000
const slowBytesPerSecond = 65_536

type Watched = { movedBytes: () => number; samples: { at: number; bytes: number }[] }
/** Watches a transfer; `movedBytes` counts everything that has moved so far. */
export type WatchSpeed = (movedBytes: () => number) => {
  /** True when less than 64 KiB a second moved over the last five seconds. */
  isSlow: () => boolean
  /** Ends the watch. */
  stop: () => void
}

/** The timer runs only while there are transfers, and keeps no process alive. */
export function createSpeedWatch(): WatchSpeed {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | null = null
  const sampleAll = (): void => {
    const now = performance.now()
    for (const { movedBytes, samples } of watched) {
      samples.push({ at: now, bytes: movedBytes() })
      while ((samples[1]?.at ?? now) <= now - windowMs) samples.shift()
    }
  }
  return (movedBytes) => {
    const own: Watched = { movedBytes, samples: [{ at: performance.now(), bytes: 0 }] }
    watched.add(own)
    timer ??= setInterval(sampleAll, sampleEveryMs).unref()
    return {
      isSlow: () => {
        const [oldest] = own.samples
        const elapsedMs = performance.now() - (oldest?.at ?? Infinity)
        if (oldest === undefined || elapsedMs < windowMs) return false
        return ((movedBytes() - oldest.bytes) * 1_000) / elapsedMs < slowBytesPerSecond
      },
      stop: () => {
        watched.delete(own)
        if (watched.size > 0 || timer === null) return
        clearInterval(timer)
        timer = null
      },
    }
  }
}
