// The time range of a log, from the parameters of the address: a number of past hours, or days and times.
export const pastRanges = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 } as const
type PastRange = keyof typeof pastRanges

export type TimeRange = {
  readonly id: PastRange | 'any' | 'custom'
  /** RFC 3339; null for an open bound. */
  readonly from: string | null
  readonly to: string | null
}

type RangeSearch = {
  readonly range?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

const hourMs = 3_600_000
const minuteMs = 60_000
const dayPattern = /^\d{4}-\d{2}-\d{2}$/

const isPastRange = (value: string | undefined): value is PastRange =>
  value !== undefined && Object.hasOwn(pastRanges, value)

/** Reads a day or an RFC 3339 time; null if the text is neither. A day as the upper bound is included. */
function readBound(text: string | undefined, isUpper: boolean): string | null {
  if (text === undefined) return null
  const isDay = dayPattern.test(text)
  if (!isDay && !/^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text)) return null
  const time = new Date(isDay ? `${text}T00:00:00` : text)
  if (Number.isNaN(time.getTime())) return null
  if (isDay && isUpper) time.setDate(time.getDate() + 1)
  return time.toISOString()
}

/**
 * Past hours end with the current hour, so that the range changes only once an hour. Only the last hour ends with the
 * current minute.
 */
export function readTimeRange(search: RangeSearch, now: number): TimeRange {
  const [from, to] = [readBound(search.from, false), readBound(search.to, true)]
  if (from !== null || to !== null) return { id: 'custom', from, to }
  if (!isPastRange(search.range)) return { id: 'any', from: null, to: null }
  const step = search.range === '1h' ? minuteMs : hourMs
  const end = (Math.floor(now / step) + 1) * step
  return {
    id: search.range,
    from: new Date(end - pastRanges[search.range] * hourMs).toISOString(),
    to: new Date(end).toISOString(),
  }
}

/** Returns whether the bounds are the start of a day in the time zone of the browser. */
export const isWholeDays = ({ from, to }: Pick<TimeRange, 'from' | 'to'>): boolean =>
  [from, to].every(
    (bound) => bound === null || new Date(bound).getHours() + new Date(bound).getMinutes() === 0,
  )

const pad = (value: number): string => String(value).padStart(2, '0')

/** Returns the day of a bound, for a date field; an empty text for an open bound. */
export function toDay(bound: string | null, isUpper: boolean): string {
  if (bound === null) return ''
  const time = new Date(Date.parse(bound) - (isUpper ? 1 : 0))
  return `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`
}
