// These tests cover valid cron expressions, and the error messages for invalid ones.
import { describe, expect, test } from 'vitest'
import { CronError, type CronFields, parseCronFields } from './cron-grammar.pure.ts'

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
const always: CronFields = {
  zone: 'UTC',
  minutes: range(0, 59),
  hours: range(0, 23),
  days: range(1, 31),
  months: range(1, 12),
  weekdays: range(0, 6),
  needsBothDays: true,
}
const problemOf = (text: string): string | null => {
  try {
    parseCronFields(text)
    return null
  } catch (error) {
    if (error instanceof CronError) return error.message
    throw error
  }
}

describe('an expression', () => {
  test('[triggers.cron-grammar] has five fields of stars, numbers, names, lists, ranges and steps', () => {
    expect(parseCronFields('* * * * *')).toEqual(always)
    expect(parseCronFields('0,59 5 1-3,30 1,DEC-dec Mon-5')).toEqual({
      ...always,
      minutes: [0, 59],
      hours: [5],
      days: [1, 2, 3, 30],
      months: [1, 12],
      weekdays: [1, 2, 3, 4, 5],
      needsBothDays: false,
    })
    expect(parseCronFields('*/20 1-10/4 */15 */6 */3')).toEqual({
      ...always,
      minutes: [0, 20, 40],
      hours: [1, 5, 9],
      days: [1, 16, 31],
      months: [1, 7],
      weekdays: [0, 3, 6],
    })
    expect(parseCronFields('5,5,0-10/5,07 00 * * *')).toMatchObject({ minutes: [0, 5, 7, 10], hours: [0] })
  })

  test('[triggers.cron-grammar] knows Sunday as 0, as 7 and by name', () => {
    for (const sunday of ['0', '7', 'sun', 'SUN', '0,7', '7-7'])
      expect(parseCronFields(`0 0 * * ${sunday}`).weekdays).toEqual([0])
    expect(parseCronFields('0 0 * * 5-7').weekdays).toEqual([0, 5, 6])
    expect(parseCronFields('0 0 * * fri-7').weekdays).toEqual([0, 5, 6])
    expect(parseCronFields('0 0 * * 0-7').weekdays).toEqual(always.weekdays)
  })

  test('[triggers.cron-grammar] has macros from @hourly to @yearly', () => {
    for (const [macro, fields] of [
      ['@hourly', '0 * * * *'],
      ['@daily', '0 0 * * *'],
      ['@midnight', '0 0 * * *'],
      ['@weekly', '0 0 * * 0'],
      ['@monthly', '0 0 1 * *'],
      ['@yearly', '0 0 1 1 *'],
      ['@annually', '0 0 1 1 *'],
    ] as const) {
      expect(parseCronFields(macro)).toEqual(parseCronFields(fields))
      expect(parseCronFields(`CRON_TZ=Europe/Berlin ${macro}`).zone).toBe('Europe/Berlin')
    }
  })

  test('[triggers.cron-grammar] may have a time zone in front, in any spelling that is known', () => {
    expect(parseCronFields('CRON_TZ=America/New_York 0 0 * * *').zone).toBe('America/New_York')
    expect(parseCronFields('CRON_TZ=europe/BERLIN \t0 0 * * *').zone).toBe('Europe/Berlin')
    expect(parseCronFields('CRON_TZ=Etc/UTC 0 0 * * *').zone).toBe('UTC')
    expect(parseCronFields('CRON_TZ=Etc/GMT+5 0 0 * * *').zone).toBe('Etc/GMT+5')
  })

  test('days that begin with a star are unrestricted: then both day fields must match, else one is enough', () => {
    for (const both of ['* * 1 * *', '* * * * 1', '* * */2 * 1', '* * 1 * */2', '* * *,1 * 1'])
      expect([both, parseCronFields(both).needsBothDays]).toEqual([both, true])
    for (const either of ['* * 1 * 1', '* * 1-31 * 1', '* * 1,* * 1'])
      expect([either, parseCronFields(either).needsBothDays]).toEqual([either, false])
  })

  test('may have several blanks and tabs between its fields', () => {
    expect(parseCronFields('0  6\t*\t *  1-5')).toEqual(parseCronFields('0 6 * * 1-5'))
  })
})

describe('what is refused says what to write', () => {
  test.each([
    ['', 'must have 1 to 200 characters, such as "0 6 * * 1-5"'],
    [' 0 6 * * *', 'has leading or trailing spaces; remove them'],
    ['0 6 * * *\t', 'has leading or trailing spaces; remove them'],
    ['0 6 * * *\n', 'may contain only ASCII'],
    ['0 6\u00a0* * *', 'may contain only ASCII'],
    ['٠ 6 * * *', 'may contain only ASCII'],
    ['0 6 * *', 'has 4 fields and must have 5'],
    ['0 0 6 * * *', 'has 6 fields and must have 5'],
    ['0 0 6 * * * 2026', 'seconds and years are not supported'],
    ['TZ=UTC 0 6 * * *', 'has 6 fields and must have 5'],
    ['60 * * * *', 'has 60 as minute; use 0 to 59'],
    ['* 24 * * *', 'has 24 as hour; use 0 to 23'],
    ['* * 0 * *', 'has 0 as day of month; use 1 to 31'],
    ['* * 32 * *', 'has 32 as day of month; use 1 to 31'],
    ['* * * 13 *', 'has 13 as month; use 1 to 12'],
    ['* * * 0 *', 'has 0 as month; use 1 to 12'],
    ['* * * * 8', 'has 8 as day of week; use 0 to 7'],
    ['000 * * * *', 'has 000 as minute; use 0 to 59'],
    ['* * * january *', 'has "january" as month; use *, numbers from 1 to 12, names such as feb'],
    ['* * * mon *', 'has "mon" as month'],
    ['jan * * * *', 'has "jan" as minute'],
    ['* * L * *', 'has "L" as day of month'],
    ['* * 15W * *', 'has "15W" as day of month'],
    ['* * * * 5L', 'has "5L" as day of week'],
    ['* * * * 1#2', 'has "1#2" as day of week'],
    ['* * * * +1', 'has "+1" as day of week'],
    ['* * ? * *', 'has "?" as day of month'],
    ['H * * * *', 'has "H" as minute'],
    ['-5 * * * *', 'has "-5" as minute'],
    ['1.5 * * * *', 'has "1.5" as minute'],
    ['1,,2 * * * *', 'has "" as minute'],
    ['1, * * * *', 'has "" as minute'],
    ['1-2-3 * * * *', 'has "1-2-3" as minute'],
    ['*-5 * * * *', 'has "*-5" as minute'],
    ['** * * * *', 'has "**" as minute'],
    ['*/2/2 * * * *', 'has "*/2/2" as minute'],
    ['10-5 * * * *', 'has a reversed range, "10-5" in minute; write two ranges, such as 10-59,0-5'],
    ['0 22-6 * * *', 'write two ranges, such as 22-23,0-6'],
    ['* * * * fri-sun', '"fri-sun" in day of week; a Sunday at the end of a range is 7'],
    ['5/15 * * * *', 'has a step after a single value, "5/15" in minute; write 5-59/15'],
    ['/5 * * * *', 'has "/5" as minute'],
    ['*/0 * * * *', 'has an invalid step, "*/0" in minute; use 1 to 60'],
    ['*/90 * * * *', 'has an invalid step, "*/90" in minute; use 1 to 60'],
    ['*/ * * * *', 'has an invalid step, "*/" in minute'],
    ['*/-1 * * * *', 'has an invalid step, "*/-1" in minute'],
    ['@reboot', 'has an unknown macro "@reboot"; use one of @hourly, @daily'],
    ['@Daily', 'has an unknown macro "@Daily"'],
    ['@every 5m', 'has an unknown macro "@every 5m"'],
    ['@daily @daily', 'has an unknown macro'],
    ['CRON_TZ=Mars/Olympus 0 6 * * *', 'has an unknown time zone "Mars/Olympus"; use an IANA name'],
    ['CRON_TZ=+01:00 0 6 * * *', 'has an unknown time zone "+01:00"'],
    ['CRON_TZ= 0 6 * * *', 'has an unknown time zone ""'],
    ['CRON_TZ=UTC', 'has no fields after its time zone'],
    ['CRON_TZ=UTC CRON_TZ=UTC 0 6 * * *', 'has 6 fields and must have 5'],
    ['cron_tz=UTC 0 6 * * *', 'has 6 fields and must have 5'],
    ['0 0 31 2 *', 'never fires: no month of "2" has a day of "31"; choose another day'],
    ['0 0 30-31 feb *', 'never fires'],
    ['0 0 31 4,6,9,nov *', 'never fires'],
    ['0 0 31 2 */2', 'never fires'],
  ])('[triggers.cron-grammar] %j', (text, problem) => {
    expect(problemOf(text)).toContain(problem)
  })

  test('what fires rarely is no mistake', () => {
    for (const text of ['0 0 29 2 *', '0 0 31 2 1', '0 0 31 2,3 *', '0 0 29 2 */7', '0 0 30 4 *'])
      expect([text, problemOf(text)]).toEqual([text, null])
  })

  test('an expression has at most 200 characters', () => {
    const longest = `0${',0'.repeat(95)}  * * * *`
    expect(longest).toHaveLength(200)
    expect(problemOf(longest)).toBeNull()
    expect(problemOf(`1${longest}`)).toContain('must have 1 to 200 characters')
    expect(problemOf('*'.repeat(1_000_000))).toContain('must have 1 to 200 characters')
  })
})
