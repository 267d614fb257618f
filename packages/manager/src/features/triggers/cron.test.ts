// These tests compare the fire times of cron expressions with a slow independent implementation, and check them at
// clock changes. cron-grammar.test.ts covers the grammar.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cron, parseCron } from './cron.pure.ts'
import { createCronCache } from './crons.service.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs

/** A field of an expression and its meaning, defined without parsing. */
type Part = { text: string; has: (value: number) => boolean }
type Range = { least: number; most: number; values: number; names?: string[] }

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const weekdayNames = 'sun mon tue wed thu fri sat'.split(' ')
const inAnyCase = (name: string): fc.Arbitrary<string> =>
  fc.constantFrom(name, name.toUpperCase(), `${name[0]?.toUpperCase()}${name.slice(1)}`)

/** Generates spellings of a value: as a number, with a leading zero, or by name. */
const written = (value: number, { least, names }: Range): fc.Arbitrary<string> => {
  const name = names?.[value - least]
  const numbers = fc.constantFrom(String(value), String(value).padStart(2, '0'))
  return name === undefined ? numbers : fc.oneof(numbers, inAnyCase(name))
}
const steps = ({ values }: Range) => fc.option(fc.integer({ min: 1, max: values }), { nil: undefined })
const isAt = (value: number, from: number, step = 1): boolean => (value - from) % step === 0

const item = (range: Range): fc.Arbitrary<Part> => {
  const { least, most } = range
  const all = steps(range).map((step) => ({
    text: step === undefined ? '*' : `*/${step}`,
    has: (value: number) => isAt(value, least, step),
  }))
  const one = fc
    .integer({ min: least, max: most })
    .chain((value) =>
      written(value, range).map((text) => ({ text, has: (other: number) => other === value })),
    )
  const several = fc
    .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }), steps(range))
    .chain(([a, b, step]) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)]
      return fc.tuple(written(from, range), written(to, range)).map(([first, last]) => ({
        text: `${first}-${last}${step === undefined ? '' : `/${step}`}`,
        has: (value: number) => value >= from && value <= to && isAt(value, from, step),
      }))
    })
  return fc.oneof(all, one, several)
}
const field = (range: Range): fc.Arbitrary<Part> =>
  fc.array(item(range), { minLength: 1, maxLength: 3 }).map((items) => ({
    text: items.map(({ text }) => text).join(','),
    has: (value) => items.some(({ has }) => has(value)),
  }))

const parts = fc.tuple(
  field({ least: 0, most: 59, values: 60 }),
  field({ least: 0, most: 23, values: 24 }),
  fc.oneof(fc.constant({ text: '*', has: () => true }), field({ least: 1, most: 31, values: 31 })),
  fc.oneof(
    fc.constant({ text: '*', has: () => true }),
    field({ least: 1, most: 12, values: 12, names: monthNames }),
  ),
  fc.oneof(
    fc.constant({ text: '*', has: () => true }),
    field({ least: 0, most: 7, values: 7, names: weekdayNames }),
  ),
)
// Half of the start times are at the ends of months, where calendar code often fails.
const starts = fc.oneof(
  fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) }).map((ms) => new Date(ms)),
  fc
    .tuple(
      fc.integer({ min: 2024, max: 2029 }),
      fc.constantFrom(1, 1, 1, 3, 11),
      fc.integer({ min: 25, max: 33 }),
      fc.integer({ min: 0, max: dayMs }),
    )
    .map(([year, month, day, ms]) => new Date(Date.UTC(year, month, day) + ms)),
)
type Parts = [Part, Part, Part, Part, Part]

function isDay([, , days, months, weekdays]: Parts, at: Date): boolean {
  const weekday = at.getUTCDay()
  const [inMonth, inWeek] = [
    days.has(at.getUTCDate()),
    weekdays.has(weekday) || (weekday === 0 && weekdays.has(7)),
  ]
  const isOpen = days.text.startsWith('*') || weekdays.text.startsWith('*')
  return months.has(at.getUTCMonth() + 1) && (isOpen ? inMonth && inWeek : inMonth || inWeek)
}

/** Computes matching minutes of a day and matching days by brute force. */
function walk(of: Parts, from: Date, days: number): { first: Date | undefined; last: Date[] } {
  const minutes = Array.from({ length: 1_440 }, (_, minute) => minute).filter(
    (minute) => of[0].has(minute % 60) && of[1].has(Math.floor(minute / 60)),
  )
  const midnight = Math.floor(from.getTime() / dayMs) * dayMs
  const matching = Array.from({ length: days }, (_, day) => midnight + day * dayMs).filter((day) =>
    isDay(of, new Date(day)),
  )
  const instantsOf = (some: number[]): Date[] =>
    some
      .flatMap((day) => minutes.map((minute) => new Date(day + minute * minuteMs)))
      .filter((instant) => instant > from)
  // All instants on the first day may have passed, but the last four days contain at least three instants.
  return { first: instantsOf(matching.slice(0, 2))[0], last: instantsOf(matching.slice(-4)).slice(-3) }
}
const parsed = (text: string): Cron | null => {
  try {
    return parseCron(text)
  } catch {
    return null
  }
}
const times = (instants: readonly (Date | null)[]): (string | undefined)[] =>
  instants.map((instant) => instant?.toISOString())
const next = (text: string, from: string, count: number): (string | undefined)[] => {
  const cron = parseCron(text)
  const found: Date[] = []
  let instant: Date | null = new Date(from)
  while (found.length < count && (instant = cron.findNext(instant)) !== null) found.push(instant)
  return times(found)
}

describe('any expression in UTC', () => {
  test('[triggers.cron-grammar] fires when all its fields match, minute by minute, and at no other time', () => {
    let compared = 0
    fc.assert(
      fc.property(parts, starts, fc.integer({ min: 1, max: 400 }), (of, from, days) => {
        const text = of.map((part) => part.text).join(' ')
        if (text.length > 200) return
        const { first: expected, last } = walk(of, from, days)
        const end = new Date(Math.floor(from.getTime() / dayMs) * dayMs + days * dayMs - 1)
        const cron = parsed(text)
        if (cron !== null) compared++
        // Expressions that never fire are rejected, which the grammar tests cover.
        const first = cron?.findNext(from) ?? undefined
        expect({
          text,
          // The model does not compute instants after the days that it scans.
          first: first !== undefined && first > end ? undefined : first,
          last: cron?.listBetween(from, end, 3) ?? [],
        }).toEqual({ text, first: expected, last })
      }),
      { numRuns: 3_000 },
    )
    expect(compared).toBeGreaterThan(2_000)
  })
})

describe('expressions of triggers', () => {
  test('are parsed once, and kept while few others are used', () => {
    const crons = createCronCache()
    const first = crons.getCron('0 6 * * *')
    for (let minute = 0; minute < 60; minute++) crons.getCron(`${minute} 0 * * *`)
    expect(crons.getCron('0 6 * * *')).toBe(first)
    for (let minute = 0; minute < 60; minute++)
      for (const hour of [1, 2]) crons.getCron(`${minute} ${hour} * * *`)
    expect(crons.getCron('0 6 * * *')).not.toBe(first)
    expect(() => crons.getCron('wrong')).toThrow('has 1 field and must have 5')
  })
})

describe('the end of February', () => {
  test.each([
    '0 0 1,31 * *',
    '0 0 */5 * *',
    '0 0 */6 2-3 *',
    '0 0 1 * wed',
    'CRON_TZ=Asia/Tokyo 0 9 1,30 * *',
  ])('does not hide the first of March: %s', (text) => {
    for (const year of [2026, 2028])
      expect(next(text, `${year}-02-28T12:00:00Z`, 5)).toContain(`${year}-03-01T00:00:00.000Z`)
  })
})

describe('between two instants', () => {
  const every = parseCron('* * * * *')
  const at = (text: string): Date => new Date(`2026-05-01T${text}Z`)

  test('the first is excluded and the last is included', () => {
    expect(times(every.listBetween(at('12:00:00'), at('12:02:00'), 10))).toEqual([
      '2026-05-01T12:01:00.000Z',
      '2026-05-01T12:02:00.000Z',
    ])
    expect(times(every.listBetween(at('11:59:59.999'), at('12:00:00.001'), 10))).toEqual([
      '2026-05-01T12:00:00.000Z',
    ])
    expect(every.listBetween(at('12:00:00'), at('12:00:59.999'), 10)).toEqual([])
    expect(every.listBetween(at('12:00:00'), at('11:00:00'), 10)).toEqual([])
    expect(every.listBetween(at('11:00:00'), at('12:00:00'), 0)).toEqual([])
  })

  test('of many the newest are listed, newest last, however long the time is', () => {
    const month = every.listBetween(new Date('2026-04-01T00:00:00Z'), at('00:00:30'), 100)
    expect(month).toHaveLength(100)
    expect(times([month[0] ?? null, month.at(-1) ?? null])).toEqual([
      '2026-04-30T22:21:00.000Z',
      '2026-05-01T00:00:00.000Z',
    ])
  })
})

describe('where clocks change', () => {
  // Berlin: the clocks change from 02:00 to 03:00 on 29 March 2026, and from 03:00 to 02:00 on 25 October.
  const berlin = (fields: string): string => `CRON_TZ=Europe/Berlin ${fields}`

  test('[triggers.cron-grammar] a zone has its own hours', () => {
    expect(next(berlin('0 6 * * *'), '2026-03-27T12:00:00Z', 3)).toEqual([
      '2026-03-28T05:00:00.000Z',
      '2026-03-29T04:00:00.000Z',
      '2026-03-30T04:00:00.000Z',
    ])
    expect(next('CRON_TZ=Asia/Kolkata @daily', '2026-03-27T12:00:00Z', 1)).toEqual([
      '2026-03-27T18:30:00.000Z',
    ])
    for (const name of ['UTC', 'Etc/UTC'])
      expect(next(`CRON_TZ=${name} 0 6 * * *`, '2026-03-27T12:00:00Z', 1)).toEqual([
        '2026-03-28T06:00:00.000Z',
      ])
  })

  test('a daily time that is skipped fires when the clocks have jumped', () => {
    expect(next(berlin('30 2 * * *'), '2026-03-28T00:00:00Z', 3)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
  })

  test('a daily time that comes twice fires the first time', () => {
    expect(next(berlin('30 2 * * *'), '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
  })

  test('times that come again and again fire neither at a skipped time nor once for one that comes twice', () => {
    expect(next(berlin('0,30 * * * *'), '2026-03-29T00:00:00Z', 3)).toEqual([
      '2026-03-29T00:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:30:00.000Z',
    ])
    expect(next(berlin('0,30 2 * * *'), '2026-03-28T12:00:00Z', 1)).toEqual(['2026-03-30T00:00:00.000Z'])
    expect(next(berlin('0,30 2 * * *'), '2026-10-24T12:00:00Z', 5)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-26T01:00:00.000Z',
    ])
  })

  test.each(['30 2 * * *', '*/20 * * * *', '15,45 2 * * *', '* 0-3 * * *', '0 3 * * sun', '0 0 * * *'])(
    'forwards and backwards give the same instants: %s',
    (fields) => {
      for (const [zone, ...changes] of [
        ['Europe/Berlin', '2026-03-29', '2026-10-25'],
        ['America/New_York', '2026-03-08', '2026-11-01'],
        ['Australia/Lord_Howe', '2026-04-05', '2026-10-04'],
        ['America/Santiago', '2026-04-05', '2026-09-06'],
      ] as const)
        for (const change of changes) {
          const [from, until] = [-2, 2].map((days) => new Date(Date.parse(change) + days * dayMs)) as [
            Date,
            Date,
          ]
          const cron = parseCron(`CRON_TZ=${zone} ${fields}`)
          const forwards: Date[] = []
          let instant = cron.findNext(from)
          while (instant !== null && instant <= until) {
            forwards.push(instant)
            instant = cron.findNext(instant)
          }
          expect(forwards.length).toBeGreaterThan(0)
          expect([zone, times(cron.listBetween(from, until, 10_000))]).toEqual([zone, times(forwards)])
        }
    },
  )
})
