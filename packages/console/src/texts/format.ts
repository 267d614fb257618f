// Numbers, times and lists in the language of the page.
import { useMemo } from 'react'
import { useLanguage } from './language.tsx'

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

export type Format = {
  number: (value: number) => string
  percent: (ratio: number) => string
  /** A day and a time with seconds, such as `19 Nov 2026, 14:32:05`. */
  exact: (time: string) => string
  /** The same as `exact`, but with milliseconds, for logs. */
  precise: (time: string) => string
  date: (time: string) => string
  /** Two times without seconds, such as `19 Nov 2026, 14:00 – 15:00`. */
  period: (from: string, to: string) => string
  /** The time relative to now, such as `3 hr ago`. */
  relative: (time: string, now?: number) => string
  bytes: (count: number) => string
  list: (items: readonly string[]) => string
}

type RelativeFormats = { readonly words: Intl.RelativeTimeFormat; readonly numbers: Intl.RelativeTimeFormat }

/** English abbreviations need no full stops beside a number, as in `3 hr ago`. */
const trimStops = (text: string): string => text.replace(/\b(sec|min|hr|wk|mo|yr)\./, '$1')

function formatRelative({ words, numbers }: RelativeFormats, time: string, now: number): string {
  const seconds = (Date.parse(time) - now) / 1_000
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const)
  // "now" and "yesterday" are exact. "last mo." and "last yr." could mean the previous calendar month or year, so these
  // units are always shown with a number.
  const formatter = unit === 'second' || unit === 'day' ? words : numbers
  return trimStops(formatter.format(Math.trunc(seconds / length), unit))
}

function formatBytes(locale: string, count: number): string {
  const names = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
  const step = Math.min(names.length - 1, Math.floor(Math.log10(Math.max(count, 1)) / 3))
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: names[step] ?? 'byte',
    maximumFractionDigits: step === 0 ? 0 : 1,
  }).format(count / 1_000 ** step)
}

/** Creates the formatters for one locale. */
function createFormat(locale: string): Format {
  const number = new Intl.NumberFormat(locale)
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const minutes = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const precise = new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    // Logs have 24 hours in every language, so that times have the same width and order.
    hourCycle: 'h23',
  })
  const relative: RelativeFormats = {
    words: new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
    numbers: new Intl.RelativeTimeFormat(locale, { numeric: 'always', style: 'short' }),
  }
  const list = new Intl.ListFormat(locale)
  return {
    number: (value) => number.format(value),
    percent: (ratio) => percent.format(ratio),
    exact: (time) => exact.format(Date.parse(time)),
    precise: (time) => precise.format(Date.parse(time)),
    date: (time) => date.format(Date.parse(time)),
    period: (from, to) => minutes.formatRange(Date.parse(from), Date.parse(to)),
    relative: (time, now = Date.now()) => formatRelative(relative, time, now),
    bytes: (count) => formatBytes(locale, count),
    list: (items) => list.format(items),
  }
}

/** Returns the formatters for the current language. */
export function useFormat(): Format {
  const { locale } = useLanguage()
  return useMemo(() => createFormat(locale), [locale])
}
