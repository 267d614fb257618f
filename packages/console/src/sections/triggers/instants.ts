// Instants in a time zone.

/** The time zone of the browser. */
export const findOwnZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Returns whether the browser knows a time zone. A person may still be typing its name. */
function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Lists the names of all time zones. Browsers omit UTC. */
export const listZones = (): readonly string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** Returns the day and the time of an instant. Times have 24 hours, as in cron expressions. */
export function describeInstant(
  time: string,
  zone: string,
  locale: string,
): { readonly day: string; readonly clock: string } {
  const timeZone = isZone(zone) ? zone : 'UTC'
  const instant = Date.parse(time)
  return {
    day: new Intl.DateTimeFormat(locale, {
      timeZone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
    }).format(instant),
    clock: new Intl.DateTimeFormat(locale, {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(instant),
  }
}
