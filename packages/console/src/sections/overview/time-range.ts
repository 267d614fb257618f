// The time range of the overview, in whole hours, because the API counts calls and runs by hour.
export const rangeIds = ['1h', '24h', '7d'] as const
export type RangeId = (typeof rangeIds)[number]

/** The current hour counts as one hour, even though it is not over yet. */
const hoursOf: Record<RangeId, number> = { '1h': 2, '24h': 24, '7d': 168 }
const hourMs = 3_600_000

export type TimeRange = {
  readonly id: RangeId
  readonly hours: number
  /** The start of the previous period, which has the same number of hours. */
  readonly before: string
  readonly from: string
  readonly to: string
}

export const isRangeId = (value: string | undefined): value is RangeId => rangeIds.some((id) => id === value)

/** Returns the range that ends with the current hour. */
export function createRange(id: RangeId, now: number): TimeRange {
  const hours = hoursOf[id]
  const to = (Math.floor(now / hourMs) + 1) * hourMs
  const from = to - hours * hourMs
  return {
    id,
    hours,
    before: new Date(from - hours * hourMs).toISOString(),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  }
}

type Point = { readonly hour: string; readonly outcome: string; readonly count: number }
export type SeriesSummary = {
  readonly failed: number
  readonly total: number
  readonly failedBefore: number
  /** Number of failures per bar of the sparkline, oldest first. */
  readonly bars: readonly number[]
}

const maxBars = 24

/** Sums a series for each bar of a sparkline, and for the previous period. */
export function summarize(
  points: readonly Point[],
  range: TimeRange,
  isFailed: (outcome: string) => boolean,
): SeriesSummary {
  const start = Date.parse(range.from)
  const bars = Array.from({ length: Math.min(maxBars, range.hours) }, () => 0)
  let failed = 0
  let total = 0
  let failedBefore = 0
  for (const { hour, outcome, count } of points) {
    const position = (Date.parse(hour) - start) / hourMs
    if (position < 0) {
      if (isFailed(outcome)) failedBefore += count
      continue
    }
    total += count
    if (!isFailed(outcome)) continue
    failed += count
    const bar = Math.floor((position / range.hours) * bars.length)
    bars[bar] = (bars[bar] ?? 0) + count
  }
  return { failed, total, failedBefore, bars }
}

/** Counts the times that belong to each bar of a sparkline. */
export function countByBar(times: readonly string[], range: TimeRange): readonly number[] {
  const start = Date.parse(range.from)
  const bars = Array.from({ length: Math.min(maxBars, range.hours) }, () => 0)
  for (const time of times) {
    const bar = Math.floor(((Date.parse(time) - start) / (range.hours * hourMs)) * bars.length)
    if (bar >= 0 && bar < bars.length) bars[bar] = (bars[bar] ?? 0) + 1
  }
  return bars
}
