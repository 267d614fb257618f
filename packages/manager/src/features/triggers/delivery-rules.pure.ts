// Determines the outcome of an attempt and the delay of the next attempt.

export type RetryRules = {
  /** Delays before the second attempt, the third, and so on. */
  retryDelaysMs: readonly number[]
  /** Maximum delay that a backend can request. */
  maxRetryAfterMs: number
}
/** The response, or the reason why there is none. */
export type AttemptResult = { status: number; retryAfter?: string | undefined } | { failure: string }
export type Verdict =
  | { outcome: 'delivered'; status: number; failure: null }
  | { outcome: 'failed'; status: number | null; failure: string }
  | { outcome: 'retry'; status: number | null; failure: string; delayMs: number }

const tooManyRequests = 429
const retryableStatuses = new Set([408, 425, tooManyRequests])
const jitter = 0.2

/**
 * Determines the outcome of an attempt, counted from 1. `random` is from 0 to 1. A date in Retry-After is relative to
 * `now`.
 */
export function evaluateAttempt(
  result: AttemptResult,
  attempt: number,
  rules: RetryRules,
  { random, now }: { random: number; now: Date },
): Verdict {
  const status = 'status' in result ? result.status : null
  if (status !== null && status >= 200 && status < 300) return { outcome: 'delivered', status, failure: null }
  const failure = 'failure' in result ? result.failure : `the backend returned ${result.status}`
  const isRetryable = status === null || retryableStatuses.has(status) || status >= 500
  const delayMs = rules.retryDelaysMs[attempt - 1]
  if (!isRetryable || delayMs === undefined) return { outcome: 'failed', status, failure }
  const requestedDelayMs =
    status === tooManyRequests && 'status' in result ? parseRetryAfter(result.retryAfter, now) : null
  if (requestedDelayMs !== null)
    return { outcome: 'retry', status, failure, delayMs: Math.min(requestedDelayMs, rules.maxRetryAfterMs) }
  const jitterFactor = 1 - jitter + 2 * jitter * random
  return { outcome: 'retry', status, failure, delayMs: Math.round(delayMs * jitterFactor) }
}

/** Returns the delay in milliseconds from a number of seconds or a date; null for anything else. */
export function parseRetryAfter(text: string | undefined, now: Date): number | null {
  if (text === undefined || text.length > 40) return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // HTTP dates start with the name of a day. Date.parse would accept many other strings.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}
