import { expect, test } from 'vitest'
import { formatTimestamp } from './pools.ts'

test.each([
  '2026-11-18 21:15:36+00',
  '2026-11-18 21:15:36.1+00',
  '2026-11-18 21:15:36.123+00',
  '2026-11-18 21:15:36.123956+00',
  '0099-01-01 00:00:00+00',
  '9999-12-31 23:59:59.999+00',
  '2026-11-18 21:15:36.123+02',
  '2026-11-18 21:15:36.123-03:30',
])('%s is formatted as a Date would be', (value) => {
  // `Date` parses years below 100 only if a `T` separates date and time.
  const expected = value.endsWith('+00') ? value.replace(' ', 'T').replace('+00', 'Z') : value
  expect(formatTimestamp(value)).toBe(new Date(expected).toISOString())
})
