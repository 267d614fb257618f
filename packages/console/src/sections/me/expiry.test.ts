import { expect, test } from 'vitest'
import { findExpiry } from './expiry.ts'

const now = Date.parse('2026-11-19T12:00:00Z')

test('a number of days counts from now', () => {
  expect(findExpiry('7', '', now)).toBe('2026-11-26T12:00:00.000Z')
})

test('a token without expiry has none, also if a day was entered before', () => {
  expect(findExpiry('never', '2027-01-31', now)).toBeNull()
})

test('a chosen day counts until its end in the time zone of the browser', () => {
  const expiry = findExpiry('day', '2027-01-31', now) ?? ''
  expect(new Date(expiry).toString()).toContain('Jan 31 2027 23:59:59')
})

test.each(['', '2027-02-30', '31.01.2027'])('%j is not a day', (day) => {
  expect(findExpiry('day', day, now)).toBeNull()
})
