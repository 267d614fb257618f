import { expect, test } from 'vitest'
import { countDays, countHours, getMonth, isWithinDay } from './timeline.ts'

const now = new Date(2026, 10, 19, 10, 20).getTime()
const at = (day: number, hour: number): string => new Date(2026, 10, day, hour).toISOString()
const points = [
  { hour: at(19, 9), outcome: 'ok', count: 5 },
  { hour: at(19, 10), outcome: 'failed', count: 2 },
  { hour: at(18, 23), outcome: 'client_error', count: 1 },
  { hour: at(18, 23), outcome: 'server_error', count: 3 },
]

test('the month ends with the current hour and is at most 31 days long', () => {
  const { from, to } = getMonth(now)
  expect(to).toBe(new Date(2026, 10, 19, 11).toISOString())
  expect(Date.parse(to) - Date.parse(from)).toBeLessThanOrEqual(31 * 86_400_000)
})

test('calls are counted by day', () => {
  const days = countDays(points, now)
  expect(days).toHaveLength(31)
  expect(days.at(-1)).toEqual({ from: at(19, 0), to: at(20, 0), total: 7, failed: 2 })
  expect(days.at(-2)).toEqual({ from: at(18, 0), to: at(19, 0), total: 4, failed: 3 })
  expect(days[0]?.total).toBe(0)
})

test('calls of one day are counted by hour', () => {
  const hours = countHours(points, at(18, 23))
  expect(hours).toHaveLength(24)
  expect(hours.at(-1)).toEqual({ from: at(18, 23), to: at(19, 0), total: 4, failed: 3 })
  expect(hours.reduce((sum, { total }) => sum + total, 0)).toBe(4)
})

test('a range within one day shows its hours', () => {
  expect(isWithinDay(at(18, 0), at(19, 0))).toBe(true)
  expect(isWithinDay(at(18, 14), at(18, 15))).toBe(true)
  expect(isWithinDay(at(18, 14), at(19, 15))).toBe(false)
  expect(isWithinDay(at(18, 14), null)).toBe(false)
})
