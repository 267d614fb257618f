// Describes a cron expression in the language of the page, such as "At 03:00, Monday to Friday, Berlin time". A library
// would need a table of texts per language; `Intl` already has the names of days and months, and lists.
import type { Translate } from '../../texts/texts.ts'
import { type CronFields, readCronFields } from './cron-fields.ts'

export type CronLanguage = { readonly t: Translate; readonly locale: string }
type Words = CronLanguage & { readonly list: (items: readonly string[]) => string }

const [minutesOfHour, hoursOfDay, daysOfMonth, monthsOfYear, daysOfWeek] = [60, 24, 31, 12, 7]
/** More times of a day than this are described by their hours and minutes. */
const maxTimes = 4
/** More periods of a day than this are described as a list of hours. */
const maxRanges = 2

/** Returns the description of an expression; null if the expression is not valid. */
export function describeCron(expression: string, language: CronLanguage): string | null {
  const fields = readCronFields(expression)
  if (fields === null) return null
  const lists = new Intl.ListFormat(language.locale)
  const words: Words = { ...language, list: (items) => lists.format(items) }
  // "Every hour" already implies every day.
  const isDaily = countTimes(fields) <= maxTimes && fields.months.length === monthsOfYear
  const parts = [
    describeTimes(fields, words),
    describeDays(fields, words) ?? (isDaily ? language.t('triggers.cron.everyDay') : null),
    describeMonths(fields, words),
    describeZone(fields.zone, language.t),
  ]
  return parts.filter((part) => part !== null).join(', ')
}

/** The name of a time zone without its region, such as `Berlin`. */
export const nameZone = (zone: string | null): string =>
  (zone ?? 'UTC').split('/').at(-1)?.replaceAll('_', ' ') ?? 'UTC'

const describeZone = (zone: string | null, t: Translate): string =>
  nameZone(zone) === 'UTC' ? 'UTC' : t('triggers.cron.zone', nameZone(zone))

const countTimes = ({ minutes, hours }: CronFields): number => minutes.length * hours.length
const pad = (value: number): string => String(value).padStart(2, '0')
const toTime = (hour: number, minute: number): string => `${pad(hour)}:${pad(minute)}`

function describeTimes({ minutes, hours }: CronFields, words: Words): string {
  const { t, list } = words
  const times = hours.flatMap((hour) => minutes.map((minute) => toTime(hour, minute)))
  if (times.length <= maxTimes) return t('triggers.cron.at', list(times))
  const ranges = toRanges(hours)
  const hourStep = findStep(hours, hoursOfDay)
  const [minute = 0] = minutes
  if (minutes.length === 1) {
    if (hourStep !== null) return describeHours(hourStep, minutes, words)
    const [from = 0, to = 0] = ranges[0] ?? []
    return ranges.length === 1
      ? `${t('triggers.cron.hourly')} ${t('triggers.cron.range', toTime(from, minute), toTime(to, minute))}`
      : t('triggers.cron.at', list(times))
  }
  const step = findStep(minutes, minutesOfHour)
  const frequency = step === null ? describeHours(1, minutes, words) : t('triggers.cron.minutes', step)
  if (hourStep === 1) return frequency
  if (ranges.length > maxRanges)
    return `${frequency} ${t('triggers.cron.inHours', list(hours.map((hour) => String(hour))))}`
  const periods = ranges.map(([from, to]) => t('triggers.cron.range', toTime(from, 0), toTime(to, 59)))
  return `${frequency} ${list(periods)}`
}

/** Describes runs in every hour, or in every few hours, at the same minutes. */
function describeHours(step: number, minutes: readonly number[], { t, list }: Words): string {
  const frequency = step === 1 ? t('triggers.cron.hourly') : t('triggers.cron.hours', step)
  if (minutes.length === 1 && minutes[0] === 0) return `${frequency} ${t('triggers.cron.onTheHour')}`
  return `${frequency} ${t('triggers.cron.atMinutes', list(minutes.map((minute) => String(minute))), minutes.length)}`
}

/** Returns null if the trigger runs on every day of its months. */
function describeDays(fields: CronFields, words: Words): string | null {
  const { t, locale } = words
  const { days, weekdays, needsBothDays } = fields
  const hasAllDays = days.length === daysOfMonth
  const hasAllWeekdays = weekdays.length === daysOfWeek
  // One match is enough, and one of the fields matches every day.
  if (!needsBothDays && (hasAllDays || hasAllWeekdays)) return null
  // The first of January 2024 was a Monday.
  const weekdayNames = formatRanges(weekdays, words, createNames(locale, { weekday: 'long' }, 1))
  const dayNumbers = t('triggers.cron.days', formatRanges(days, words, String), days.length)
  if (hasAllDays) return hasAllWeekdays ? null : weekdayNames
  if (hasAllWeekdays) return dayNumbers
  return needsBothDays
    ? t('triggers.cron.daysIf', dayNumbers, weekdayNames)
    : t('triggers.cron.daysOr', dayNumbers, weekdayNames)
}

function describeMonths({ months }: CronFields, words: Words): string | null {
  if (months.length === monthsOfYear) return null
  const names = formatRanges(months, words, createNames(words.locale, { month: 'long' }, 31))
  return words.t('triggers.cron.months', names, months.length)
}

/** Returns a function that names a day of the week or a month, counted from 1. */
function createNames(locale: string, options: Intl.DateTimeFormatOptions, daysEach: number) {
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  // 31 days after the first of a month are in the next month, and twelve such steps stay within their months.
  return (value: number): string => format.format(Date.UTC(2024, 0, 1 + (value - 1) * daysEach))
}

/** Lists values. Three and more consecutive values are written as a range. */
function formatRanges(
  values: readonly number[],
  { t, list }: Words,
  format: (value: number) => string,
): string {
  return list(
    toRanges(values).flatMap(([from, to]) => {
      if (from === to) return [format(from)]
      return to === from + 1
        ? [format(from), format(to)]
        : [t('triggers.cron.through', format(from), format(to))]
    }),
  )
}

/** Returns the first and the last value of every sequence of consecutive values. */
function toRanges(values: readonly number[]): readonly (readonly [from: number, to: number])[] {
  const ranges: [number, number][] = []
  for (const value of values) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === value - 1) last[1] = value
    else ranges.push([value, value])
  }
  return ranges
}

/** Returns the distance of the values if they divide the whole period evenly, starting at 0; otherwise null. */
function findStep(values: readonly number[], period: number): number | null {
  const step = period / values.length
  return values.length > 1 && values.every((value, index) => value === index * step) ? step : null
}
