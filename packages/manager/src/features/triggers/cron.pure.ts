// Computes when a cron expression fires. The grammar is in cron-grammar.pure.ts. Croner does the calendar and time zone
// arithmetic, and receives only numbers. When the clocks of a zone change, an expression with one minute and one hour
// still fires once a day. A skipped local time fires right after the clocks jump, unless that is the next day. A
// repeated local time fires the first time. Any other expression fires whenever the local clock shows a matching time:
// never at a skipped time, and twice at a repeated one.
import { Cron as Calendar, type CronOptions } from 'croner'
import { CronError, type CronFields, parseCronFields } from './cron-grammar.pure.ts'

export { CronError }

export type Cron = {
  /** Returns the first instant after this one, or null if there is none in this millennium. */
  nextAfter(instant: Date): Date | null
  /** Returns the instants after `after` up to and including `until`, newest last; at most the newest `max`. */
  between(after: Date, until: Date, max: number): Date[]
}

/** Parses a cron expression. Throws a CronError that explains the problem. */
export function parseCron(text: string): Cron {
  const calendars = splitFebruary(parseCronFields(text)).map(calendarOf)
  const previous = (later: Date): Date | null =>
    choose(
      calendars.map((calendar) => calendar.previousRuns(1, later)[0] ?? null),
      (one, other) => one > other,
    )
  return {
    nextAfter: (instant) =>
      choose(
        calendars.map((calendar) => calendar.nextRun(instant)),
        (one, other) => one < other,
      ),
    between: (after, until, max) => {
      const instants: Date[] = []
      // The calendar searches before a given second, and all instants are whole seconds.
      let later = new Date(Math.floor(until.getTime() / 1_000) * 1_000 + 1_000)
      while (instants.length < max) {
        const instant = previous(later)
        if (instant === null || instant <= after) break
        instants.push(instant)
        later = instant
      }
      return instants.toReversed()
    },
  }
}

function choose(instants: (Date | null)[], isBetter: (one: Date, other: Date) => boolean): Date | null {
  return instants.reduce((best, one) => (best === null || (one !== null && isBetter(one, best)) ? one : best))
}

const [february, march, longestFebruary, longestMonth] = [2, 3, 29, 31]

/**
 * Croner treats 30 February as a day in March and continues from there, which skips the first of March. February
 * therefore gets its own calendar if its missing days and the first days of March are not treated alike.
 */
function splitFebruary(fields: CronFields): CronFields[] {
  const { days, months, needsBothDays } = fields
  if (!months.includes(february) || !months.includes(march) || days.length === longestMonth) return [fields]
  const others = { ...fields, months: months.filter((month) => month !== february) }
  const hasDays = !needsBothDays || days.some((day) => day <= longestFebruary)
  return hasDays ? [others, { ...fields, months: [february] }] : [others]
}

const [minutesOfHour, hoursOfDay, monthsOfYear, daysOfWeek] = [60, 24, 12, 7]

function calendarOf({ zone, needsBothDays, ...fields }: CronFields): Calendar {
  // If one day field is enough, a star in the other would make croner ignore that field.
  const stars = needsBothDays ? { days: longestMonth, weekdays: daysOfWeek } : {}
  const pattern = [
    listOf(fields.minutes, minutesOfHour),
    listOf(fields.hours, hoursOfDay),
    listOf(fields.days, stars.days),
    listOf(fields.months, monthsOfYear),
    listOf(fields.weekdays, stars.weekdays),
  ].join(' ')
  const options: CronOptions = { mode: '5-part', domAndDow: needsBothDays }
  // For UTC, an offset instead of a time zone makes the calendar ten times as fast.
  return new Calendar(pattern, zone === 'UTC' ? { ...options, utcOffset: 0 } : { ...options, timezone: zone })
}

const listOf = (values: readonly number[], all?: number): string =>
  values.length === all ? '*' : values.join(',')
