// Implements a time.Time in UTC with the methods that templates use.
import { fail } from './errors.ts'
import { type TimeParts, dayNames, formatTime, monthNames } from './layout.ts'
import { Int, type Method, Named, type ParameterType, type Value } from './value.ts'

const DAY_MS = 86_400_000
/** Seconds from the year 1, the start of Go's time scale, to 1970. */
const SECONDS_BEFORE_1970 = 62_135_596_800n

/** A moment in UTC with millisecond precision. */
export class GoTime extends Named {
  readonly type = 'time.Time'
  readonly methods = methods
  readonly milliseconds: number

  constructor(milliseconds: number) {
    super()
    this.milliseconds = milliseconds
  }

  text(): string {
    return this.format('2006-01-02 15:04:05.999999999 -0700 MST')
  }

  toJSON(): string {
    return this.format('2006-01-02T15:04:05.999999999Z07:00')
  }

  override source(): string {
    const { year, month, day, hour, minute, second, nanosecond } = this.timeParts()
    return `time.Date(${year}, time.${monthNames[month - 1]}, ${day}, ${hour}, ${minute}, ${second}, ${nanosecond}, time.UTC)`
  }

  override parts(): readonly (readonly [string, Int | null])[] {
    const { nanosecond } = this.timeParts()
    return [
      ['wall', new Int('uint64', BigInt(nanosecond))],
      ['ext', new Int('int64', this.seconds() + SECONDS_BEFORE_1970)],
      ['loc', null],
    ]
  }

  format(layout: string): string {
    return formatTime(this.timeParts(), layout)
  }

  seconds(): bigint {
    return BigInt(Math.floor(this.milliseconds / 1000))
  }

  timeParts(): TimeParts {
    const date = new Date(this.milliseconds)
    const year = date.getUTCFullYear()
    const firstDay = new Date(0)
    firstDay.setUTCFullYear(year, 0, 1)
    return {
      year,
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      weekday: date.getUTCDay(),
      yearDay: Math.floor((this.milliseconds - firstDay.getTime()) / DAY_MS) + 1,
      hour: date.getUTCHours(),
      minute: date.getUTCMinutes(),
      second: date.getUTCSeconds(),
      nanosecond: date.getUTCMilliseconds() * 1_000_000,
    }
  }

  /** Adds years, months and days. A day beyond the end of the month overflows into the next month. */
  addDate(years: number, months: number, days: number): GoTime {
    const date = new Date(this.milliseconds)
    date.setUTCFullYear(date.getUTCFullYear() + years, date.getUTCMonth() + months, date.getUTCDate() + days)
    return goTime(date)
  }
}

const readPart =
  (name: keyof TimeParts) =>
  (time: GoTime): Value =>
    BigInt(time.timeParts()[name])
const createInt64 = (value: bigint): Value => new Int('int64', value)
const getMilliseconds = (time: GoTime): bigint => BigInt(time.milliseconds)
const defineMethod = (
  parameters: readonly ParameterType[],
  call: (receiver: GoTime, args: readonly Value[]) => Value,
): Method => ({ parameters, call })
const defineComparison = (holds: (a: number, b: number) => boolean): Method =>
  defineMethod(['any'], (time, [other]) =>
    other instanceof GoTime
      ? holds(time.milliseconds, other.milliseconds)
      : fail('wrong type for value; expected time.Time'),
  )

const methods: ReadonlyMap<string, Method> = new Map([
  ['Year', defineMethod([], readPart('year'))],
  ['Day', defineMethod([], readPart('day'))],
  ['YearDay', defineMethod([], readPart('yearDay'))],
  ['Hour', defineMethod([], readPart('hour'))],
  ['Minute', defineMethod([], readPart('minute'))],
  ['Second', defineMethod([], readPart('second'))],
  ['Nanosecond', defineMethod([], readPart('nanosecond'))],
  ['Month', defineMethod([], (time) => createNamedPart('time.Month', time.timeParts().month, monthNames, 1))],
  [
    'Weekday',
    defineMethod([], (time) => createNamedPart('time.Weekday', time.timeParts().weekday, dayNames, 0)),
  ],
  ['Unix', defineMethod([], (time) => createInt64(time.seconds()))],
  ['UnixMilli', defineMethod([], (time) => createInt64(getMilliseconds(time)))],
  ['UnixMicro', defineMethod([], (time) => createInt64(getMilliseconds(time) * 1000n))],
  [
    'UnixNano',
    defineMethod([], (time) => createInt64(BigInt.asIntN(64, getMilliseconds(time) * 1_000_000n))),
  ],
  ['UTC', defineMethod([], (time) => time)],
  [
    'IsZero',
    defineMethod([], (time) => time.seconds() === -SECONDS_BEFORE_1970 && time.timeParts().nanosecond === 0),
  ],
  ['Format', defineMethod(['string'], (time, [layout]) => time.format(layout as string))],
  ['String', defineMethod([], (time) => time.text())],
  ['GoString', defineMethod([], (time) => time.source())],
  ['Before', defineComparison((a, b) => a < b)],
  ['After', defineComparison((a, b) => a > b)],
  ['Equal', defineComparison((a, b) => a === b)],
  [
    'AddDate',
    defineMethod(['int', 'int', 'int'], (time, [years, months, days]) =>
      time.addDate(Number(years), Number(months), Number(days)),
    ),
  ],
])

function createNamedPart(type: string, value: number, names: readonly string[], first: number): Int {
  return new Int(type, BigInt(value), names[value - first] ?? '')
}

/**
 * Converts a date to a Go time.Time in UTC. The result prints, formats and compares as in Go. Throws for an
 * invalid date.
 */
export function goTime(date: Date): GoTime {
  const milliseconds = date.getTime()
  if (Number.isNaN(milliseconds)) throw new RangeError('the date is invalid; pass a valid Date')
  return new GoTime(milliseconds)
}
