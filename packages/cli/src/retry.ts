// Repeats a read until the Manager answers.
import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionError, GraphqlError, ResponseError } from '@manager/client'

type RetryOptions = {
  signal: AbortSignal
  remark: (text: string) => void
  /** The delay before the first retry. It doubles with each further retry. */
  delayMs: number
}

const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504])
const transientCodes = new Set(['unavailable', 'rate_limited'])
const maxDelayMs = 10_000

/** Whether the same request can succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (error instanceof ResponseError) return transientStatuses.has(error.status)
  return error instanceof GraphqlError && transientCodes.has(error.code ?? '')
}

/** Runs the read. Repeats it after temporary failures, and tells the user when the connection is lost and restored. */
export async function retryUntilConnected<Result>(
  read: () => Promise<Result>,
  { signal, remark, delayMs }: RetryOptions,
): Promise<Result> {
  for (let failures = 0; ; failures++) {
    try {
      const result = await read()
      if (failures > 0) remark('Connected again.')
      return result
    } catch (error) {
      signal.throwIfAborted()
      if (!isTransient(error)) throw error
      if (failures === 0)
        remark(`The connection is lost: ${(error as Error).message}. Retrying; press Ctrl-C to stop.`)
      await sleep(getDelayMs(error, delayMs * 2 ** failures), undefined, { signal })
    }
  }
}

/** A longer delay that the Manager requests takes precedence. */
function getDelayMs(error: unknown, delayMs: number): number {
  const retryAfterMs =
    error instanceof ResponseError || error instanceof GraphqlError ? (error.retryAfterMs ?? 0) : 0
  return Math.min(Math.max(delayMs, retryAfterMs), maxDelayMs)
}
