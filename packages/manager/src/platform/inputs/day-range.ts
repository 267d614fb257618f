// Reads the time range of a series: from (inclusive) and to (exclusive), in RFC 3339 format.
import { badRequest } from '../errors.ts'
import { readTimeWindow } from './time-window.ts'

const maxDays = 31
const dayMs = 86_400_000

/** Returns the range as UTC timestamps; throws 400 if a bound is malformed, or if the range is empty or too long. */
export function readDayRange(bounds: { from: string; to: string }): { from: string; to: string } {
  const { from, to } = readTimeWindow(bounds) as { from: string; to: string }
  if (Date.parse(to) - Date.parse(from) > maxDays * dayMs)
    throw badRequest(`from and to can be at most ${maxDays} days apart; request a shorter range`)
  return { from, to }
}
