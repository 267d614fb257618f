// When a cron expression fires. The grammar is our own (cron-grammar.pure.ts); the arithmetic of calendars and time zones
// is croner's, which is given nothing but numbers.
//
// Where the clocks of a zone change, an expression with one minute and one hour fires once a day all the same: a local time
// that is skipped fires when the clocks have jumped, unless that is the next day, and one that comes twice fires the first
// time. Any other expression fires whenever the local clock shows a time that matches: never at a skipped one, and twice
// at one that comes twice.
import { Cron as Calendar, type CronOptions } from 'croner'
import { CronError, type CronFields, parseCronFields } from './cron-grammar.pure.ts'

export { CronError }

export type Cron = {
  /** The first instant later than this one; null when there is none in this millennium. */
  nextAfter(instant: Date): Date | null
  /** The instants later than `after` and not later than `until`, newest last; of many the newest `max`. */
  between(after: Date, until: Date, max: number): Date[]
}

/** Reads a cron expression; throws a CronError that says what is wrong with it. */
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
      // The calendar looks for what is earlier than a second, and every instant is a whole one.
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
 * croner takes 30 February for a day in March and goes on from there, past the first of March. So February has a calendar of
 * its own where the first days of March and the days February lacks are not treated alike.
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
  // Where one day field is enough, a star in one of them would mean that it does not count.
  const stars = needsBothDays ? { days: longestMonth, weekdays: daysOfWeek } : {}
  const pattern = [
    listOf(fields.minutes, minutesOfHour),
    listOf(fields.hours, hoursOfDay),
    listOf(fields.days, stars.days),
    listOf(fields.months, monthsOfYear),
    listOf(fields.weekdays, stars.weekdays),
  ].join(' ')
  const options: CronOptions = { mode: '5-part', domAndDow: needsBothDays }
  // UTC needs no time zone, and takes a tenth of the time without.
  return new Calendar(pattern, zone === 'UTC' ? { ...options, utcOffset: 0 } : { ...options, timezone: zone })
}

const listOf = (values: readonly number[], all?: number): string =>
  values.length === all ? '*' : values.join(',')
