import { expect, test } from 'vitest'
import { isWholeDays, readTimeRange, toDay } from './time-range.ts'

const now = Date.parse('2026-11-19T10:20:30Z')

test('past hours end with the current hour', () => {
  expect(readTimeRange({ range: '24h' }, now)).toEqual({
    id: '24h',
    from: '2026-11-18T11:00:00.000Z',
    to: '2026-11-19T11:00:00.000Z',
  })
})

test('the last hour ends with the current minute', () => {
  expect(readTimeRange({ range: '1h' }, now)).toEqual({
    id: '1h',
    from: '2026-11-19T09:21:00.000Z',
    to: '2026-11-19T10:21:00.000Z',
  })
})

test('an hour of a day is not a whole day', () => {
  const at = (hours: number): string => new Date(2026, 10, 1, hours).toISOString()
  expect(isWholeDays({ from: at(0), to: at(24) })).toBe(true)
  expect(isWholeDays({ from: at(0), to: null })).toBe(true)
  expect(isWholeDays({ from: at(0), to: at(1) })).toBe(false)
})

test('days include the last one, in the time zone of the browser', () => {
  const { id, from, to } = readTimeRange({ from: '2026-11-01', to: '2026-11-30' }, now)
  expect({ id, from, to }).toEqual({
    id: 'custom',
    from: new Date(2026, 10, 1).toISOString(),
    to: new Date(2026, 11, 1).toISOString(),
  })
  expect([toDay(from, false), toDay(to, true)]).toEqual(['2026-11-01', '2026-11-30'])
})

test('other pages can link to exact times', () => {
  const range = readTimeRange({ from: '2026-11-19T10:00:00+01:00' }, now)
  expect(range).toEqual({ id: 'custom', from: '2026-11-19T09:00:00.000Z', to: null })
  expect(toDay(range.to, true)).toBe('')
})

test.each(['2h', 'toString', '', '2026-13-45', '2026-11-19T10:00:00', 'T', '99999-01-01'])(
  'the address %j is ignored',
  (text) => {
    const any = { id: 'any', from: null, to: null }
    expect(readTimeRange({ range: text }, now)).toEqual(any)
    expect(readTimeRange({ from: text, to: text }, now)).toEqual(any)
  },
)
