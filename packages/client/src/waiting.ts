// Delays between attempts.

const firstDelayMs = 250
/** If Retry-After is longer, the client does not retry. */
export const maxDelayMs = 30_000

/** Doubles with each retry, minus up to half at random, so that clients do not all retry together. */
export const backoffMs = (retries: number): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** retries) * (1 - Math.random() / 2)

/** Reads Retry-After, in seconds or as a date. Returns milliseconds, or null without a valid header. */
export function retryAfterOf({ headers }: Response): number | null {
  const value = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now())
}

/** Waits, or rejects with the reason of the signal when it is aborted. */
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
