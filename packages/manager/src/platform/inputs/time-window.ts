// A window of time in a query string: from (inclusive) and to (exclusive), RFC 3339, each optional.
import { badRequest } from '../errors.ts'
import { parseTimestamp } from './timestamps.ts'

export type TimeWindow = { from: string | null; to: string | null }

/** The window as UTC timestamps with milliseconds; throws 400 when a bound is malformed or the window is empty. */
export function readTimeWindow(query: { from?: string; to?: string }): TimeWindow {
  const [from, to] = [boundOrNull('from', query.from), boundOrNull('to', query.to)]
  if (from !== null && to !== null && from >= to)
    throw badRequest('from must be before to: the window holds what happened at or after from and before to')
  return { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null }
}

/** The instant that a bound names; throws 400. */
export function readBound(name: 'from' | 'to', text: string): Date {
  const bound = parseTimestamp(text)
  if (bound === null)
    throw badRequest(
      `${name} must be an RFC 3339 timestamp such as 2026-01-31T12:00:00Z (write + as %2B in an address)`,
    )
  return bound
}

const boundOrNull = (name: 'from' | 'to', text: string | undefined): Date | null =>
  text === undefined ? null : readBound(name, text)
