import { expect, test } from 'vitest'
import { countDays, findTokenState, isUsable } from './token-state.ts'

const now = Date.parse('2026-11-19T12:00:00Z')

test.each([
  ['active', { revoked: false, expiresAt: null }],
  ['active', { revoked: false, expiresAt: '2026-12-03T12:00:01Z' }],
  ['expiring', { revoked: false, expiresAt: '2026-12-03T12:00:00Z' }],
  ['expiring', { revoked: false, expiresAt: '2026-11-19T12:00:01Z' }],
  ['expired', { revoked: false, expiresAt: '2026-11-19T12:00:00Z' }],
  ['revoked', { revoked: true, expiresAt: '2026-11-01T12:00:00Z' }],
] as const)('a token is %s', (state, token) => {
  expect(findTokenState(token, now)).toBe(state)
  expect(isUsable(token, now)).toBe(state === 'active' || state === 'expiring')
})

test.each([
  ['2026-11-19T13:00:00Z', 0],
  ['2026-11-20T12:00:00Z', 1],
  ['2026-11-18T12:00:00Z', 0],
])('the days until %s are %i', (time, days) => {
  expect(countDays(time, now)).toBe(days)
})
