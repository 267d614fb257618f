// Parses cron expressions: the five fields of Vixie cron, its macros, and an optional time zone prefix.
// Expressions are parsed to lists of numbers here, so that no other code handles user input. Extensions of
// other cron implementations are rejected. cron.pure.ts computes the matching times.

/** The message names the problem and the remedy, and completes "cronExpression …". */
export class CronError extends Error {}

export type CronFields = {
  /** Canonical name of the time zone. */
  zone: string
  minutes: readonly number[]
  hours: readonly number[]
  days: readonly number[]
  months: readonly number[]
  /** 0 (Sunday) to 6. */
  weekdays: readonly number[]
  /** Whether a day must match both day fields; otherwise one match is enough. */
  needsBothDays: boolean
}

type Field = { name: string; min: number; max: number; valueCount: number; names?: readonly string[] }

const maxLength = 200
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
const minute: Field = { name: 'minute', min: 0, max: 59, valueCount: 60 }
const hour: Field = { name: 'hour', min: 0, max: 23, valueCount: 24 }
const day: Field = { name: 'day of month', min: 1, max: 31, valueCount: 31 }
const month: Field = { name: 'month', min: 1, max: 12, valueCount: 12, names: monthNames }
// Both 0 and 7 stand for Sunday.
const weekday: Field = { name: 'day of week', min: 0, max: 7, valueCount: 7, names: weekdayNames }

/** Parses an expression in linear time. Throws a CronError if it is invalid or never fires. */
export function parseCronFields(text: string): CronFields {
  if (text.length === 0 || text.length > maxLength)
    throw new CronError(`must have 1 to ${maxLength} characters, such as "0 6 * * 1-5"`)
  if (!/^[\t\x20-\x7e]+$/.test(text))
    throw new CronError('may contain only ASCII letters, digits, punctuation, spaces and tabs')
  if (/^[\t ]|[\t ]$/.test(text)) throw new CronError('has leading or trailing spaces; remove them')
  const { zone, expression } = splitZone(text)
  const fieldTexts = expandMacro(expression).split(/[\t ]+/)
  if (fieldTexts.length !== 5)
    throw new CronError(
      `has ${fieldTexts.length} ${fieldTexts.length === 1 ? 'field' : 'fields'} and must have 5: minute, hour, day of month, month, day of week; seconds and years are not supported`,
    )
  const [minutes, hours, days, months, weekdays] = fieldTexts as [string, string, string, string, string]
  const fields = {
    zone,
    minutes: readField(minute, minutes),
    hours: readField(hour, hours),
    days: readField(day, days),
    months: readField(month, months),
    weekdays: readField(weekday, weekdays),
    needsBothDays: days.startsWith('*') || weekdays.startsWith('*'),
  }
  if (neverFires(fields))
    throw new CronError(`never fires: no month of "${months}" has a day of "${days}"; choose another day`)
  return fields
}

/** Splits off a `CRON_TZ=<zone> ` prefix. The default zone is UTC. */
function splitZone(text: string): { zone: string; expression: string } {
  const [, name, expression] = /^CRON_TZ=([^\t ]*)(?:[\t ]+([^\t ].*))?$/.exec(text) ?? []
  if (name === undefined) return { zone: 'UTC', expression: text }
  if (expression === undefined)
    throw new CronError('has no fields after its time zone; write CRON_TZ=Europe/Berlin 0 6 * * *')
  return { zone: toCanonicalZone(name), expression }
}

/** Returns the canonical name of a zone. Zones have many spellings, and the calendar caches zone data by name. */
function toCanonicalZone(name: string): string {
  const problem = `has an unknown time zone "${name}"; use an IANA name such as Europe/Berlin`
  // Intl treats a name that does not start with a letter as an offset.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) throw new CronError(problem)
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    throw new CronError(problem)
  }
}

function expandMacro(expression: string): string {
  if (!expression.startsWith('@')) return expression
  const fields = macros.get(expression)
  if (fields === undefined)
    throw new CronError(`has an unknown macro "${expression}"; use one of ${[...macros.keys()].join(', ')}`)
  return fields
}

/** Returns the sorted, distinct values of a field. */
function readField(field: Field, text: string): number[] {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const { from, to, step } = readItem(field, item)
    for (let value = from; value <= to; value += step)
      values.add(field === weekday && value === 7 ? 0 : value)
  }
  return [...values].toSorted((a, b) => a - b)
}

function readItem(field: Field, item: string): { from: number; to: number; step: number } {
  const [range = '', stepText, ...rest] = item.split('/')
  const [first = '', last, ...more] = range.split('-')
  if (rest.length > 0 || more.length > 0) throw createFieldError(field, item)
  const isStar = range === '*'
  const from = isStar ? field.min : readValue(field, first, item)
  const to = isStar ? field.max : last === undefined ? from : readValue(field, last, item)
  if (from > to)
    throw new CronError(
      `has a reversed range, "${item}" in ${field.name}; ${field === weekday ? 'a Sunday at the end of a range is 7' : `write two ranges, such as ${from}-${field.max},${field.min}-${to}`}`,
    )
  if (stepText === undefined) return { from, to, step: 1 }
  if (!isStar && last === undefined)
    throw new CronError(
      `has a step after a single value, "${item}" in ${field.name}; write ${first}-${field.max}/${stepText}`,
    )
  return { from, to, step: readStep(field, stepText, item) }
}

function readValue(field: Field, text: string, item: string): number {
  const index = field.names?.indexOf(text.toLowerCase()) ?? -1
  if (index >= 0) return index + field.min
  if (!/^\d+$/.test(text)) throw createFieldError(field, item)
  const value = Number(text)
  if (text.length > 2 || value < field.min || value > field.max)
    throw new CronError(`has ${text} as ${field.name}; use ${field.min} to ${field.max}`)
  return value
}

function readStep(field: Field, text: string, item: string): number {
  const step = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (step < 1 || step > field.valueCount)
    throw new CronError(`has an invalid step, "${item}" in ${field.name}; use 1 to ${field.valueCount}`)
  return step
}

const createFieldError = ({ name, min, max, names }: Field, item: string): CronError =>
  new CronError(
    `has "${item}" as ${name}; use *, numbers from ${min} to ${max}${names === undefined ? '' : `, names such as ${names[1]}`}, ranges such as ${min}-${min + 2}, steps such as */2, and lists of them`,
  )

const maxMonthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Returns whether the expression never fires. Every month contains all weekdays, so only an expression that needs both
 * day fields to match can be impossible.
 */
const neverFires = ({ days, months, needsBothDays }: CronFields): boolean =>
  needsBothDays &&
  !months.some((number) => days.some((value) => value <= (maxMonthDays[number - 1] as number)))
