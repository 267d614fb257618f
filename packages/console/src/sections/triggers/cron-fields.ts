// Reads the fields of a cron expression, so that the page can describe it while a person types. The Manager decides
// whether an expression is valid; this file follows the same grammar.

export type CronFields = {
  /** The time zone of a `CRON_TZ` prefix; null for UTC. */
  readonly zone: string | null
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: readonly number[]
  readonly months: readonly number[]
  /** 1 (Monday) to 7 (Sunday). */
  readonly weekdays: readonly number[]
  /** Whether a day must match both day fields; otherwise one match is enough. */
  readonly needsBothDays: boolean
}

type Field = { readonly min: number; readonly max: number; readonly names?: readonly string[] }

const macros: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
])
const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const weekdayNames = 'sun mon tue wed thu fri sat'.split(' ')
const sunday = 7
const fields = {
  minute: { min: 0, max: 59 },
  hour: { min: 0, max: 23 },
  day: { min: 1, max: 31 },
  month: { min: 1, max: 12, names: monthNames },
  weekday: { min: 0, max: sunday, names: weekdayNames },
} as const satisfies Record<string, Field>

/** Splits off a `CRON_TZ=<zone>` prefix. */
export function splitZone(text: string): { zone: string | null; expression: string } {
  const [, zone, expression = ''] = /^\s*CRON_TZ=(\S*)(?:\s+(\S.*))?$/.exec(text) ?? []
  return zone === undefined ? { zone: null, expression: text } : { zone, expression }
}

/** Adds the prefix for a time zone. UTC needs no prefix. */
export function joinZone(zone: string | null, expression: string): string {
  return zone === null || zone === 'UTC' ? expression : `CRON_TZ=${zone} ${expression}`
}

/** Returns the five fields as texts, without the time zone. A macro is replaced by its fields. */
export function splitFields(text: string): readonly string[] {
  const { expression } = splitZone(text)
  const trimmed = expression.trim()
  return (macros.get(trimmed) ?? trimmed).split(/[\t ]+/).filter((field) => field !== '')
}

/** Returns the fields of an expression; null if it is not valid. */
export function readCronFields(text: string): CronFields | null {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = splitFields(text)
  if (weekday === '' || more.length > 0) return null
  const minutes = readField(fields.minute, minute)
  const hours = readField(fields.hour, hour)
  const days = readField(fields.day, day)
  const months = readField(fields.month, month)
  const weekdays = readField(fields.weekday, weekday)?.map((value) => (value === 0 ? sunday : value))
  if (minutes === null || hours === null || days === null || months === null || weekdays === undefined)
    return null
  return {
    zone: splitZone(text).zone,
    minutes,
    hours,
    days,
    months,
    weekdays: [...new Set(weekdays)].toSorted((a, b) => a - b),
    needsBothDays: day.startsWith('*') || weekday.startsWith('*'),
  }
}

/** Returns the sorted, distinct values of a field; null if it is not valid. */
function readField(field: Field, text: string): readonly number[] | null {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const range = readItem(field, item)
    if (range === null) return null
    for (let value = range.from; value <= range.to; value += range.step) values.add(value)
  }
  return [...values].toSorted((a, b) => a - b)
}

function readItem(field: Field, item: string): { from: number; to: number; step: number } | null {
  const [range = '', stepText, ...rest] = item.split('/')
  const [first = '', last, ...more] = range.split('-')
  const isStar = range === '*'
  const from = isStar ? field.min : readValue(field, first)
  const to = isStar ? field.max : last === undefined ? from : readValue(field, last)
  const step = stepText === undefined ? 1 : /^\d{1,2}$/.test(stepText) ? Number(stepText) : 0
  // The Manager rejects a step after a single value.
  const isSingleStep = stepText !== undefined && !isStar && last === undefined
  if (from === null || to === null || from > to || step < 1 || isSingleStep) return null
  return rest.length > 0 || more.length > 0 ? null : { from, to, step }
}

function readValue({ min, max, names }: Field, text: string): number | null {
  const index = names?.indexOf(text.toLowerCase()) ?? -1
  if (index >= 0) return index + min
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1
  return value >= min && value <= max ? value : null
}
