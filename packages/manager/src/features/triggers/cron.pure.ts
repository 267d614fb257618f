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
  const calendar = calendarOf(parseCronFields(text))
  return {
    nextAfter: (instant) => calendar.nextRun(instant),
    between: (after, until, max) => {
      const instants: Date[] = []
      // The calendar looks for what is earlier than a second, and every instant is a whole one.
      let later = new Date(Math.floor(until.getTime() / 1_000) * 1_000 + 1_000)
      while (instants.length < max) {
        const [instant] = calendar.previousRuns(1, later)
        if (instant === undefined || instant <= after) break
        instants.push(instant)
        later = instant
      }
      return instants.toReversed()
    },
  }
}

const fullDay = 24
const fullHour = 60
const fullYear = 12

function calendarOf({ zone, needsBothDays, ...fields }: CronFields): Calendar {
  // A star in a day field would change which days match; lists do not.
  const pattern = [
    listOf(fields.minutes, fullHour),
    listOf(fields.hours, fullDay),
    listOf(fields.days),
    listOf(fields.months, fullYear),
    listOf(fields.weekdays),
  ].join(' ')
  const options: CronOptions = { mode: '5-part', domAndDow: needsBothDays }
  // UTC needs no time zone, and takes a tenth of the time without.
  return new Calendar(pattern, zone === 'UTC' ? { ...options, utcOffset: 0 } : { ...options, timezone: zone })
}

const listOf = (values: readonly number[], all?: number): string =>
  values.length === all ? '*' : values.join(',')
