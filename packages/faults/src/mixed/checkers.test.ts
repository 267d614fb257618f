// Checks that the checkers of the mixed load find every planted mistake, and that they report nothing in a correct
// history.
import { describe, expect, test } from 'vitest'
import type { Operation } from '../recorder.ts'
import {
  checkCalls,
  checkInvalidated,
  checkLogins,
  checkRegisters,
  checkStatuses,
  checkTenants,
  checkUploads,
  hintRecoveryMs,
  writeTimes,
  writeRecoveryMs,
} from './checkers.ts'

const operation = (op: string, key: string, outcome: Operation['outcome'], end = 0): Operation => ({
  op,
  key,
  start: end,
  end,
  status: outcome === 'ok' ? 200 : outcome === 'fail' ? 400 : 503,
  outcome,
})

const row = (slug: string, audited = 1) => ({ slug, audited })
const write = (value: string, start: number, outcome: Operation['outcome']) => ({
  register: 'r',
  value,
  start,
  end: start + 1,
  outcome,
})
const use = (startedAt: number) => ({
  credential: 'c',
  startedAt,
  answeredAt: startedAt + 5,
  accepted: true,
})
const hint = (sentAt: number, sockets: number) =>
  Array.from({ length: sockets }, (_, socket) => ({ socket, key: `live ${sentAt}`, at: sentAt + 5 }))

describe('tenants', () => {
  const operations = [
    operation('create', 'a', 'ok'),
    operation('create', 'b', 'unknown'),
    operation('create', 'c', 'fail'),
  ]

  test('what ended unknown may be there or not', () => {
    for (const tenants of [[row('a')], [row('a'), row('b')]])
      expect(checkTenants({ operations, tenants })).toEqual({ lost: [], strange: [] })
  })

  test('what was acknowledged is there; what was refused is not; each has one audit row', () => {
    expect(checkTenants({ operations, tenants: [] }).lost).toEqual(['tenant a'])
    expect(checkTenants({ operations, tenants: [row('a', 2), row('c')] }).strange).toHaveLength(2)
  })
})

describe('names', () => {
  const renames = [
    write('v1', 1, 'ok'),
    write('v2', 3, 'ok'),
    write('v3', 5, 'fail'),
    write('v4', 7, 'unknown'),
  ]

  test.each(['v2', 'v4'])('%s may be the last', (name) => {
    expect(checkRegisters({ renames, names: { r: name } })).toEqual([])
  })

  test.each(['v0', 'v1', 'v3'])('%s may not', (name) => {
    expect(checkRegisters({ renames, names: { r: name } })).toEqual([`tenant r is ${name}`])
  })

  test('the first name stays while nothing was acknowledged', () => {
    expect(checkRegisters({ renames: [write('v1', 1, 'fail')], names: { r: 'v0' } })).toEqual([])
  })
})

test('a use that began after the end was answered is not accepted; one that began before may be', () => {
  const invalidations: [string, { requestedAt: number; confirmedAt: number }][] = [
    ['c', { requestedAt: 10, confirmedAt: 20 }],
  ]
  expect(checkInvalidated({ invalidations, uses: [use(15), use(20)] })).toEqual({ accepted: [], judged: 0 })
  expect(checkInvalidated({ invalidations, uses: [use(21)] })).toEqual({ accepted: ['c'], judged: 1 })
})

test('a call has its row, with the status of its answer', () => {
  const answered = [{ requestId: 'a', status: 200 }]
  expect(checkCalls({ answered, logged: [{ requestId: 'a', status: 200 }] })).toEqual([])
  expect(checkCalls({ answered, logged: [{ requestId: 'a', status: null }] })).toEqual(['a'])
  expect(checkCalls({ answered, logged: [] })).toEqual(['a'])
})

test('an upload is served with its bytes', () => {
  const uploaded = [{ version: '1.0.0', sha256: 'x' }]
  expect(checkUploads({ uploaded, served: { '1.0.0': 'x' } })).toEqual([])
  expect(checkUploads({ uploaded, served: { '1.0.0': 'y' } })).toHaveLength(1)
})

test('a login without a token is lost unless a poll got no answer; two tokens are one too many', () => {
  const login = { key: 'k', tokens: ['t'], unknown: 0, last: 'expired', isValid: true }
  expect(checkLogins({ logins: [login, { ...login, tokens: [], unknown: 1, isValid: null }] })).toEqual({
    lost: [],
    twice: [],
  })
  expect(
    checkLogins({
      logins: [
        { ...login, tokens: [] },
        { ...login, isValid: false },
      ],
    }).lost,
  ).toHaveLength(2)
  expect(checkLogins({ logins: [{ ...login, tokens: ['t', 't'] }] }).twice).toHaveLength(1)
})

test('a 500 is never excused, a 503 is', () => {
  const failed = [500, 502, 503].map((status) => ({ ...operation('create', 'a', 'unknown'), status }))
  expect(checkStatuses(failed, ({ status }) => status === 503)).toEqual(['create 500', 'create 502'])
})

const steady = (from: number) => Array.from({ length: 20 }, (_, index) => from + index * 500)

describe('the time until writes flow again', () => {
  const watched = { at: 1_000, until: 12_000 }

  test('ends with the write after the last pause, not with a few writes before it', () => {
    expect(writeRecoveryMs([900, 990, 1_050, ...steady(6_000)], watched)).toBe(5_000)
    expect(writeRecoveryMs([900, 1_050, 4_000, 4_100, ...steady(8_000)], watched)).toBe(7_000)
  })

  test('is nothing when they never stop, and without end when they do not come back', () => {
    expect(writeRecoveryMs([...steady(500), ...steady(10_500)], watched)).toBe(0)
    expect(writeRecoveryMs([900, 990], watched)).toBe(Infinity)
    expect(writeRecoveryMs([900, 1_100, 1_200], watched)).toBe(Infinity)
    expect(writeRecoveryMs([], { at: 1_000, until: Infinity })).toBe(Infinity)
  })

  test('counts acknowledged writes alone', () => {
    const operations = [
      operation('create', 'a', 'ok', 1),
      operation('create', 'b', 'unknown', 2),
      operation('authenticate', 'c', 'ok', 3),
      operation('emit', 'd', 'ok', 4),
    ]
    expect(writeTimes(operations)).toEqual([1, 4])
  })
})

test('hints are back with the first from which on none misses anybody', () => {
  const faults = [{ name: 'SIGKILL', at: 1_000, until: 9_000 }]
  const arrivals = [
    ...hint(900, 3),
    ...hint(1_500, 1),
    ...hint(2_000, 3),
    ...hint(2_500, 1),
    ...hint(4_000, 3),
  ]
  expect(hintRecoveryMs({ arrivals, audience: 3, faults })).toBe(3_000)
  expect(hintRecoveryMs({ arrivals: hint(900, 3), audience: 3, faults })).toBe(Infinity)
})
