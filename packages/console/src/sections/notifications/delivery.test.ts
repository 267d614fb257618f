import { expect, test } from 'vitest'
import { createDayRange, summarize } from './delivery.ts'

const now = Date.parse('2026-03-10T15:30:00Z')

test('a range has whole days in UTC, and today is the last one', () => {
  expect(createDayRange('7d', now)).toEqual({
    id: '7d',
    days: 7,
    from: '2026-03-04T00:00:00.000Z',
    to: '2026-03-11T00:00:00.000Z',
  })
})

test('days are added up, and days without notifications have an empty bar', () => {
  const create = (day: string, emitted: number) => ({ day, emitted, recipients: 10, seen: 4, read: 1 })
  const days = [create('2026-03-05T00:00:00.000Z', 2), create('2026-03-10T00:00:00.000Z', 5)]
  expect(summarize(days, createDayRange('7d', now))).toEqual({
    totals: { emitted: 7, recipients: 20, seen: 8, read: 2 },
    days: days.toReversed(),
    bars: [0, 2, 0, 0, 0, 0, 5],
  })
})
