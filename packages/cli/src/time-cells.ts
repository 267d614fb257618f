// Formats times in tables. People see how long ago something happened; programs and --iso get RFC 3339.
import type { Terminal } from './terminal.ts'

export type TimeStyle = 'relative' | 'utc' | 'iso'

/** The style of a run. The program has one terminal per run. */
const styles = new WeakMap<Terminal, TimeStyle>()
export const setTimeStyle = (terminal: Terminal, style: TimeStyle): void => void styles.set(terminal, style)

const timeField = /(At|Time|timestamp)$/
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/

/**
 * Returns the text of a table cell with a time, or null if the field contains no time. Without a terminal, the default
 * is RFC 3339, because scripts read such a table.
 */
export function formatTimeCell(
  terminal: Terminal,
  field: string,
  value: unknown,
  style: TimeStyle = styles.get(terminal) ?? 'iso',
): string | null {
  if (typeof value !== 'string' || !timeField.test(field) || !rfc3339.test(value)) return null
  return formatTime(value, style, new Date())
}

/** Returns the style for lines that stay on the screen, where a relative time would soon be wrong. */
export const getLastingTimeStyle = (terminal: Terminal): TimeStyle =>
  styles.get(terminal) === 'utc' ? 'utc' : 'iso'

export function formatTime(time: string, style: TimeStyle, now: Date): string {
  if (style === 'iso') return time
  const date = new Date(time)
  return style === 'utc'
    ? date
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC')
    : formatRelative(date, now)
}

const units = [
  { name: 's', ms: 1_000, limitMs: 60_000 },
  { name: 'min', ms: 60_000, limitMs: 3_600_000 },
  { name: 'h', ms: 3_600_000, limitMs: 86_400_000 },
  { name: 'd', ms: 86_400_000, limitMs: 30 * 86_400_000 },
] as const

/** Returns a text such as "5 min ago" or "in 3 d". A time more than 30 days away becomes a date in UTC. */
function formatRelative(date: Date, now: Date): string {
  const distanceMs = Math.abs(now.getTime() - date.getTime())
  if (distanceMs < 1_000) return 'now'
  const unit = units.find(({ limitMs }) => distanceMs < limitMs)
  if (unit === undefined) return date.toISOString().slice(0, 10)
  const text = `${Math.floor(distanceMs / unit.ms)} ${unit.name}`
  return date <= now ? `${text} ago` : `in ${text}`
}
