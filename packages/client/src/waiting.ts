// How long until the next attempt.

const firstDelayMs = 250
/** What asks for a longer wait is told to the caller instead. */
export const maxDelayMs = 30_000

/** Twice as long each time, less up to a half at random: clients do not come back all at once. */
export const backoffMs = (retries: number): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** retries) * (1 - Math.random() / 2)

/** What Retry-After says, in seconds or as a date; null without one. */
export function retryAfterOf({ headers }: Response): number | null {
  const value = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now())
}

/** Waits, or throws what the signal says when it fires. */
export const wait = (delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
