// The time from the first attempt of a run to its end.
const [secondMs, minuteMs] = [1_000, 60_000]

type Times = { readonly executedAt: string | null; readonly finishedAt: string | null }

/** Returns the duration in milliseconds; null if the run has not ended or no backend was called. */
export const measureRun = ({ executedAt, finishedAt }: Times): number | null =>
  executedAt === null || finishedAt === null
    ? null
    : Math.max(0, Date.parse(finishedAt) - Date.parse(executedAt))

/** Returns a duration such as `0.4 s`, or `2 min 41 s`. */
export function formatDuration(ms: number, locale: string): string {
  const format = (value: number, unit: 'minute' | 'second', digits = 0): string =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    }).format(value)
  if (ms < minuteMs) return format(ms / secondMs, 'second', ms < 10 * secondMs ? 2 : 0)
  const minutes = Math.floor(ms / minuteMs)
  return `${format(minutes, 'minute')} ${format(Math.floor((ms % minuteMs) / secondMs), 'second')}`
}
