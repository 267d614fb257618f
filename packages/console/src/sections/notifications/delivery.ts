// Sums the daily counts of notifications.

/** The counts of one day, as the API returns them. */
export type DayCount = {
  readonly day: string
  readonly emitted: number
  readonly recipients: number
  readonly seen: number
  readonly read: number
}
export type Totals = Omit<DayCount, 'day'>
export type Delivery = {
  readonly totals: Totals
  /** The days of the range with notifications, newest first. */
  readonly days: readonly DayCount[]
  /** The number of notifications per day, oldest first. */
  readonly bars: readonly number[]
}

/** The numbers of days that a person can choose. The API counts days in UTC. */
const dayCounts = { '7d': 7, '30d': 30 } as const
type RangeId = keyof typeof dayCounts
export const rangeIds = ['7d', '30d'] as const satisfies readonly RangeId[]
const dayMs = 86_400_000

export type DayRange = {
  readonly id: RangeId
  readonly days: number
  readonly from: string
  readonly to: string
}

export const isRangeId = (value: string | undefined): value is RangeId => rangeIds.some((id) => id === value)

/** Returns the range that ends with the current day. */
export function createDayRange(id: RangeId, now: number): DayRange {
  const days = dayCounts[id]
  const end = (Math.floor(now / dayMs) + 1) * dayMs
  return { id, days, from: new Date(end - days * dayMs).toISOString(), to: new Date(end).toISOString() }
}

const noTotals: Totals = { emitted: 0, recipients: 0, seen: 0, read: 0 }

/** Adds up counts. */
const addCounts = (counts: readonly Totals[]): Totals =>
  counts.reduce<Totals>(
    (sum, { emitted, recipients, seen, read }) => ({
      emitted: sum.emitted + emitted,
      recipients: sum.recipients + recipients,
      seen: sum.seen + seen,
      read: sum.read + read,
    }),
    noTotals,
  )

export function summarize(days: readonly DayCount[], range: DayRange): Delivery {
  const bars = Array.from({ length: range.days }, () => 0)
  for (const { day, emitted } of days) {
    const index = Math.round((Date.parse(day) - Date.parse(range.from)) / dayMs)
    if (index >= 0 && index < bars.length) bars[index] = emitted
  }
  return { totals: addCounts(days), days: days.toReversed(), bars }
}
