// This file parses the time window of an evidence query.
import { badRequest } from '../../platform/errors.ts'
import { readBound } from '../../platform/inputs/time-window.ts'

export type Window = { from: Date; to: Date }
export type RequestedWindow = { from?: string | undefined; to?: string | undefined }

const dayMs = 86_400_000
const defaultDays = 90
// The database does not support the year 0.
const earliest = Date.parse('0001-01-01T00:00:00Z')

const dayForm = /^\d{4}-\d\d-\d\d$/

/** Converts the window of a page: days start at midnight UTC, and an empty field is treated as absent. */
export const dayBounds = ({ from, to }: RequestedWindow): RequestedWindow => ({
  from: boundOf(from),
  to: boundOf(to),
})

function boundOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  return dayForm.test(text) ? `${text}T00:00:00Z` : text
}

/**
 * Parses a window from `from`, inclusive, to `to`, exclusive. The number of rows is limited, but not the length of the
 * window. `to` defaults to now, and `from` to 90 days before the end. Throws 400.
 */
export function readWindow(requested: RequestedWindow, now: Date): Window {
  const to = requested.to === undefined ? now : readBound('to', requested.to)
  const from =
    requested.from === undefined
      ? new Date(Math.max(earliest, to.getTime() - defaultDays * dayMs))
      : readBound('from', requested.from)
  if (from >= to)
    throw badRequest(`from must be before to: ${from.toISOString()} is not before ${to.toISOString()}`)
  return { from, to }
}
