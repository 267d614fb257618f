// Computes and waits for delays between attempts.

const firstDelayMs = 250
/** If Retry-After is longer than this, the client does not retry. */
export const maxDelayMs = 30_000

/**
 * Returns a delay that doubles with each retry. A random amount is subtracted, so that clients do not all retry at the
 * same time.
 */
export const getBackoffMs = (retries: number): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** retries) * (1 - Math.random() / 2)

/** Reads Retry-After, in seconds or as a date. Returns milliseconds, or null if there is no valid header. */
export function parseRetryAfter({ headers }: Response): number | null {
  const value = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now())
}

/** Waits for the delay. Rejects with the abort reason if the signal is aborted. */
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
