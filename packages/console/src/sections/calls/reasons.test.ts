import { expect, test } from 'vitest'
import { findReason, findStep, mayHaveArrived } from './reasons.ts'

const ended = { durationMs: 12, responseStatus: 502, failure: null as string | null }
const reasonOf = (failure: string | null, responseStatus: number | null = 502) =>
  findReason({ ...ended, failure, responseStatus })

test('messages with values are recognized by their start', () => {
  expect(reasonOf('the request body is larger than 10485760 bytes', 413)).toBe('bodyTooLarge')
  expect(reasonOf('the body is not JSON as the endpoint expects: position 3', 400)).toBe('wrongBody')
  expect(reasonOf('the transformation template failed at 3:12', 500)).toBe('template')
})

test('without a failure, the partner returned the status', () => {
  expect(reasonOf(null, 200)).toBeNull()
  expect(reasonOf(null, 404)).toBe('partnerRefusal')
  expect(reasonOf(null, 503)).toBe('partnerError')
  expect(reasonOf(null, null)).toBeNull()
})

test('an unknown failure is shown as recorded', () => {
  expect(reasonOf('something new')).toBe('other')
  expect(reasonOf('constructor')).toBe('other')
})

test('a partner may have received only calls that were sent', () => {
  expect(mayHaveArrived('timeout')).toBe(true)
  expect(mayHaveArrived('callerLeft')).toBe(true)
  expect(mayHaveArrived('refused')).toBe(false)
  expect(mayHaveArrived('noAccess')).toBe(false)
  expect(findStep('noAccess')).toBe('access')
})
