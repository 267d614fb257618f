// Reads a time window from a query string: from (inclusive) and to (exclusive), in RFC 3339 format. Both are optional.
import { badRequest } from '../errors.ts'
import { checkFields } from './fields.ts'
import { parseTimestamp } from './timestamps.ts'

/** Bounds as a client sends them. GraphQL passes an absent argument as undefined or null. */
export type TimeBounds = { from?: string | null; to?: string | null }
/** Bounds as UTC timestamps; null for an open bound. */
export type TimeWindow = { from: string | null; to: string | null }

/**
 * Returns the window as UTC timestamps with milliseconds; throws 400 if a bound is malformed or the window is empty.
 */
export function readTimeWindow(query: TimeBounds): TimeWindow {
  const { from, to } = checkFields({
    from: () => readOptionalBound('from', query.from),
    to: () => readOptionalBound('to', query.to),
  })
  if (from !== null && to !== null && from >= to)
    throw badRequest('from must be before to: the window includes from and excludes to', 'from')
  return { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null }
}

/** Parses a bound; throws 400 if it is malformed. */
export function readBound(name: 'from' | 'to', text: string): Date {
  const bound = parseTimestamp(text)
  if (bound === null)
    throw badRequest(
      `${name} must be an RFC 3339 timestamp such as 2026-01-31T12:00:00Z (write + as %2B in a URL)`,
    )
  return bound
}

const readOptionalBound = (name: 'from' | 'to', text: string | null | undefined): Date | null =>
  text === undefined || text === null ? null : readBound(name, text)
