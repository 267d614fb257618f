// The window of time that an evidence query is about.
import { badRequest } from '../../platform/errors.ts'
import { readBound } from '../../platform/inputs/time-window.ts'

export type Window = { from: Date; to: Date }
export type AskedWindow = { from?: string | undefined; to?: string | undefined }

const dayMs = 86_400_000
const defaultDays = 90
// The database has no year 0.
const earliest = Date.parse('0001-01-01T00:00:00Z')

const dayForm = /^\d{4}-\d\d-\d\d$/

/** The window as a page asks for it: days, which begin at midnight UTC, and nothing for what is left empty. */
export const dayBounds = ({ from, to }: AskedWindow): AskedWindow => ({
  from: boundOf(from),
  to: boundOf(to),
})

function boundOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  return dayForm.test(text) ? `${text}T00:00:00Z` : text
}

/**
 * From `from` to before `to`, of any length: the number of rows is what is limited. Without `to` it ends now; without
 * `from` it begins 90 days before its end. Throws 400.
 */
export function readWindow(asked: AskedWindow, now: Date): Window {
  const to = asked.to === undefined ? now : readBound('to', asked.to)
  const from =
    asked.from === undefined
      ? new Date(Math.max(earliest, to.getTime() - defaultDays * dayMs))
      : readBound('from', asked.from)
  if (from >= to)
    throw badRequest(`from must be before to: ${from.toISOString()} is not before ${to.toISOString()}`)
  return { from, to }
}
