// Parses the time window of an evidence query.
import { badRequest } from '../../platform/errors.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { readBound } from '../../platform/inputs/time-window.ts'

export type Window = { from: Date; to: Date }
export type RequestedWindow = { from?: string | undefined; to?: string | undefined }

const dayMs = 86_400_000
const defaultDays = 90
// The earliest time that the database supports: it has no year 0.
const earliestMs = Date.parse('0001-01-01T00:00:00Z')

const dayPattern = /^\d{4}-\d\d-\d\d$/

/** Converts the window that a page submits. Days start at midnight UTC, and an empty field is treated as absent. */
export const convertDayBounds = ({ from, to }: RequestedWindow): RequestedWindow => ({
  from: convertBound(from),
  to: convertBound(to),
})

function convertBound(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  return dayPattern.test(text) ? `${text}T00:00:00Z` : text
}

/**
 * Parses a window from `from`, inclusive, to `to`, exclusive. The number of rows is limited, but the length
 * of the window is not. `to` defaults to now, and `from` to 90 days before `to`. Throws 400.
 */
export function readWindow(requestedWindow: RequestedWindow, now: Date): Window {
  const { to, from: requestedFrom } = checkFields({
    to: () => (requestedWindow.to === undefined ? now : readBound('to', requestedWindow.to)),
    from: () => (requestedWindow.from === undefined ? null : readBound('from', requestedWindow.from)),
  })
  const from = requestedFrom ?? new Date(Math.max(earliestMs, to.getTime() - defaultDays * dayMs))
  if (from >= to)
    throw badRequest(
      `from must be before to: ${from.toISOString()} is not before ${to.toISOString()}`,
      'from',
    )
  return { from, to }
}
