// The window of time that an evidence query is about.
import { badRequest } from '../../platform/errors.ts'
import { readBound } from '../../platform/inputs/time-window.ts'

export type Window = { from: Date; to: Date }
export type AskedWindow = { from?: string | undefined; to?: string | undefined }

const dayMs = 86_400_000
const defaultDays = 90
const longestDays = 1_830

/** From `from` to before `to`. Without `to` it ends now; without `from` it begins 90 days before its end. Throws 400. */
export function readWindow(asked: AskedWindow, now: Date): Window {
  const to = asked.to === undefined ? now : readBound('to', asked.to)
  const from =
    asked.from === undefined ? new Date(to.getTime() - defaultDays * dayMs) : readBound('from', asked.from)
  if (from >= to)
    throw badRequest(`from must be before to: ${from.toISOString()} is not before ${to.toISOString()}`)
  if (to.getTime() - from.getTime() > longestDays * dayMs)
    throw badRequest(`from and to may be at most ${longestDays} days apart, which is five years`)
  return { from, to }
}
