import { expect, test } from 'vitest'
import { isRequestId, isTooLong, readCallRange, toCallsQuery } from './calls-query.ts'
import { findStatusKind, readCallKey, toCallKey } from './call.ts'

const now = Date.parse('2026-11-19T10:20:30Z')
const id = '01a1e651-aee4-7704-bfe7-f7a42bd7b60b'

test('filters of the address become arguments; values that the API would reject are ignored', () => {
  expect(toCallsQuery({ endpoint: id, machine: 'x', status: '5xx' }, now, 'text')).toEqual({
    endpoint: id,
    machineUser: null,
    requestId: null,
    status: '5xx',
    from: null,
    to: null,
    text: null,
  })
  expect(toCallsQuery({ status: '9xx' }, now, 'text').status).toBeNull()
})

test('a text without a time is searched in the last day, a request id in the whole log', () => {
  expect(toCallsQuery({ q: 'orders' }, now, 'text')).toMatchObject({
    text: 'orders',
    requestId: null,
    from: '2026-11-18T11:00:00.000Z',
    to: '2026-11-19T11:00:00.000Z',
  })
  expect(toCallsQuery({ q: id }, now, 'requestId')).toMatchObject({ text: null, requestId: id, from: null })
})

test('texts are not searched in ranges over a day', () => {
  expect(isTooLong(readCallRange({ q: 'orders', range: '7d' }, now, 'text'))).toBe(true)
  expect(isTooLong(readCallRange({ q: 'orders', range: '24h' }, now, 'text'))).toBe(false)
})

test('request ids have letters, digits, dots, underscores and hyphens', () => {
  expect(['r-7c1f02', id, 'a'.repeat(64)].every(isRequestId)).toBe(true)
  expect(['two words', '', 'a/b', 'é', 'a'.repeat(65)].some(isRequestId)).toBe(false)
})

test('the key of a call contains its time', () => {
  const key = toCallKey({ id, timestamp: '2026-11-19T10:20:30.123Z' })
  expect(readCallKey(key)).toEqual({ id, from: '2026-11-19T10:20:30.123Z', to: '2026-11-19T10:20:30.124Z' })
  expect([id, `1-${'x'.repeat(36)}`, `9999999999999999-${id}`, ''].map(readCallKey)).toEqual([
    null,
    null,
    null,
    null,
  ])
})

test('the icon of a call depends on the status that the caller received', () => {
  const kind = (
    responseStatus: number | null,
    durationMs: number | null = 5,
    failure: string | null = null,
  ) => findStatusKind({ responseStatus, durationMs, failure })
  expect([kind(200), kind(404), kind(502), kind(null), kind(null, null), kind(200, 5, 'late')]).toEqual([
    'ok',
    'warn',
    'danger',
    'danger',
    'pending',
    'warn',
  ])
})
