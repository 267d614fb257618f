// Computes when a cron expression fires. The grammar is in cron-grammar.pure.ts. Croner does the calendar and
// time zone arithmetic, and receives only numbers. When a time zone changes its clocks, an expression with
// one minute and one hour still fires once a day. A skipped local time fires right after the clocks jump,
// unless that is the next day. A repeated local time fires the first time. Any other expression fires
// whenever the local clock shows a matching time: never at a skipped time, and twice at a repeated one.
import { Cron as Calendar, type CronOptions } from 'croner'
import { CronError, type CronFields, parseCronFields } from './cron-grammar.pure.ts'

export { CronError }

export type Cron = {
  /** Returns the first instant after the given instant, or null if there is none in this millennium. */
  findNext(instant: Date): Date | null
  /** Returns the instants after `after` up to and including `until`, newest last; at most the newest `max`. */
  listBetween(after: Date, until: Date, max: number): Date[]
}

/** Parses a cron expression. Throws a CronError that explains the problem. */
export function parseCron(text: string): Cron {
  const calendars = splitFebruary(parseCronFields(text)).map(createCalendar)
  const findPrevious = (upperBound: Date): Date | null =>
    chooseInstant(
      calendars.map((calendar) => calendar.previousRuns(1, upperBound)[0] ?? null),
      (one, other) => one > other,
    )
  return {
    findNext: (instant) =>
      chooseInstant(
        calendars.map((calendar) => calendar.nextRun(instant)),
        (one, other) => one < other,
      ),
    listBetween: (after, until, max) => {
      const instants: Date[] = []
      // The search excludes its upper bound. All instants are whole seconds, so the first upper bound is the next whole
      // second after `until`.
      let upperBound = new Date(Math.floor(until.getTime() / 1_000) * 1_000 + 1_000)
      while (instants.length < max) {
        const instant = findPrevious(upperBound)
        if (instant === null || instant <= after) break
        instants.push(instant)
        upperBound = instant
      }
      return instants.toReversed()
    },
  }
}

function chooseInstant(
  instants: (Date | null)[],
  isBetter: (one: Date, other: Date) => boolean,
): Date | null {
  return instants.reduce((best, one) => (best === null || (one !== null && isBetter(one, best)) ? one : best))
}

const [february, march, maxFebruaryDays, maxMonthDays] = [2, 3, 29, 31]

/**
 * Croner treats 30 February as a day in March and continues from there, so it skips the first of March. If an
 * expression matches both months, February therefore gets its own calendar, unless every day matches or no day of
 * February can match.
 */
function splitFebruary(fields: CronFields): CronFields[] {
  const { days, months, needsBothDays } = fields
  if (!months.includes(february) || !months.includes(march) || days.length === maxMonthDays) return [fields]
  const otherMonths = { ...fields, months: months.filter((month) => month !== february) }
  const hasFebruaryDays = !needsBothDays || days.some((day) => day <= maxFebruaryDays)
  return hasFebruaryDays ? [otherMonths, { ...fields, months: [february] }] : [otherMonths]
}

const [minutesOfHour, hoursOfDay, monthsOfYear, daysOfWeek] = [60, 24, 12, 7]

function createCalendar({ zone, needsBothDays, ...fields }: CronFields): Calendar {
  // If a match in one day field is enough, both fields must be lists: croner would ignore a field if the other field
  // were a star.
  const starCounts = needsBothDays ? { days: maxMonthDays, weekdays: daysOfWeek } : {}
  const pattern = [
    formatList(fields.minutes, minutesOfHour),
    formatList(fields.hours, hoursOfDay),
    formatList(fields.days, starCounts.days),
    formatList(fields.months, monthsOfYear),
    formatList(fields.weekdays, starCounts.weekdays),
  ].join(' ')
  const options: CronOptions = { mode: '5-part', domAndDow: needsBothDays }
  // For UTC, an offset instead of a time zone makes the calendar ten times faster.
  return new Calendar(pattern, zone === 'UTC' ? { ...options, utcOffset: 0 } : { ...options, timezone: zone })
}

const formatList = (values: readonly number[], fullCount?: number): string =>
  values.length === fullCount ? '*' : values.join(',')
