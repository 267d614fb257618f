// Reads that repeat while a person looks at the page, such as lists of calls and runs. A hidden tab sends no request, and
// failures make the pauses longer, so that many open tabs do not delay the recovery of the Manager.
import { GraphqlError, ResponseError } from '@manager/client'
import { type Query, focusManager } from '@tanstack/react-query'

const pollMs = 5_000
const maxPauseMs = 60_000

/** A part of the state of a query in the cache. */
type ReadState = Pick<Query['state'], 'dataUpdateCount' | 'errorUpdateCount' | 'errorUpdatedAt' | 'error'>
type Read = { readonly state: ReadState }

/** Returns the pause that a failed response requests; 0 if it requests none. */
const readRetryAfter = (error: unknown): number =>
  error instanceof GraphqlError || error instanceof ResponseError ? (error.retryAfterMs ?? 0) : 0

/**
 * Returns the pause before the next request. It doubles with every consecutive failure, but a longer `Retry-After` is
 * respected.
 */
export const getPause = (failures: number, error: unknown, pauseMs = pollMs): number => {
  if (failures === 0) return pauseMs
  const longest = Math.max(maxPauseMs, pauseMs)
  return Math.max(Math.min(pauseMs * 2 ** failures, longest), readRetryAfter(error))
}

/** The counters of a query when it last succeeded. The cache counts only all failures, not the consecutive ones. */
const successes = new WeakMap<Read, { readonly results: number; readonly failures: number }>()

function countFailures(query: Read): number {
  const { dataUpdateCount, errorUpdateCount, error } = query.state
  const last = successes.get(query) ?? { results: 0, failures: 0 }
  if (dataUpdateCount === last.results) return errorUpdateCount - last.failures
  // The first failure after a success may already be counted.
  const failures = error === null ? 0 : 1
  successes.set(query, { results: dataUpdateCount, failures: errorUpdateCount - failures })
  return failures
}

/** Returns the interval of a query that repeats while the page is visible, less often after failures. */
export const createInterval =
  <Result>(isLive: (result: Result | undefined) => boolean, pauseMs?: number) =>
  (query: Read & { state: { data: Result | undefined } }): number | false =>
    isLive(query.state.data) && getPause(countFailures(query), query.state.error, pauseMs)

/**
 * Returns the options of a query that repeats while `isLive` is true for its latest result. A page that becomes visible
 * is read immediately, unless a failed response requests a longer pause.
 */
export const createLiveOptions = <Result>(
  isLive: (result: Result | undefined) => boolean,
  pauseMs?: number,
) => ({
  refetchInterval: createInterval(isLive, pauseMs),
  refetchIntervalInBackground: false,
  refetchOnWindowFocus: (query: Read & { state: { data: Result | undefined } }): boolean | 'always' => {
    const { error, errorUpdatedAt, data } = query.state
    return isLive(data) && Date.now() >= errorUpdatedAt + readRetryAfter(error) ? 'always' : false
  },
})

/** Whether the page is read when the connection returns. A hidden tab is read when it becomes visible. */
export const canReadOnReconnect = (): boolean => focusManager.isFocused()
