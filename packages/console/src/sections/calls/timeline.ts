// The numbers of calls in the last month by day, and in one day by hour. Days are those of the browser's time zone.

type Point = { readonly hour: string; readonly outcome: string; readonly count: number }

export type Bar = {
  /** RFC 3339; the bar contains calls from `from` to before `to`. */
  readonly from: string
  readonly to: string
  readonly total: number
  readonly failed: number
}

const failedOutcomes: ReadonlySet<string> = new Set(['failed', 'rejected', 'server_error'])
const hourMs = 3_600_000
const dayCount = 31

const startOfDay = (time: number, offset = 0): number => {
  const day = new Date(time)
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() + offset)
  return day.getTime()
}

/** Returns the hours to read: 31 days that end with the current hour, which is the longest range of the API. */
export function getMonth(now: number): { readonly from: string; readonly to: string } {
  const end = (Math.floor(now / hourMs) + 1) * hourMs
  const start = Math.max(startOfDay(now, 1 - dayCount), end - dayCount * 24 * hourMs)
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() }
}

function fillBars(bounds: readonly number[], points: readonly Point[]): readonly Bar[] {
  const bars = bounds.slice(0, -1).map((start, index) => ({
    from: new Date(start).toISOString(),
    to: new Date(bounds[index + 1] ?? start).toISOString(),
    total: 0,
    failed: 0,
  }))
  for (const { hour, outcome, count } of points) {
    const time = Date.parse(hour)
    const bar = bars[bounds.findLastIndex((bound) => bound <= time)]
    if (bar === undefined) continue
    bar.total += count
    if (failedOutcomes.has(outcome)) bar.failed += count
  }
  return bars
}

/** Returns a bar for each of the last 31 days, with today as the last one. */
export const countDays = (points: readonly Point[], now: number): readonly Bar[] =>
  fillBars(
    Array.from({ length: dayCount + 1 }, (_, index) => startOfDay(now, index + 1 - dayCount)),
    points,
  )

/** Returns a bar for each hour of the day that contains `from`. A day can have 23 or 25 hours. */
export function countHours(points: readonly Point[], from: string): readonly Bar[] {
  const start = startOfDay(Date.parse(from))
  const hours = Math.round((startOfDay(start, 1) - start) / hourMs)
  return fillBars(
    Array.from({ length: hours + 1 }, (_, index) => start + index * hourMs),
    points,
  )
}

/** Returns whether both bounds are in the same day, so that its hours are of interest. */
export function isWithinDay(from: string | null, to: string | null): from is string {
  if (from === null || to === null) return false
  const start = Date.parse(from)
  const end = Date.parse(to)
  return end > start && startOfDay(start) === startOfDay(end - 1)
}
