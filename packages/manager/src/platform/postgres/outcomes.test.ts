// Tests the outcome of a change for each error code.
import { describe, expect, test } from 'vitest'
import {
  isConflict,
  isLost,
  isOutcomeUnknown,
  isRetryable,
  markOutcome,
  determineOutcome,
} from './outcomes.ts'

const coded = (code: string): Error => Object.assign(new Error('an error of the server'), { code })
const texted = (message: string): Error => new Error(message)

describe('a statement that commits', () => {
  test.each([
    ...['57P03', '53300', '08001', '08004', '28P01', '3D000'].map((code) => [
      `refused at the start: ${code}`,
      coded(code),
    ]),
    ...['25006', '40001', '40P01', '55P03', '57014', '23505', '22001', '42P01', 'P0001', '25P02'].map(
      (code) => [`rolled back: ${code}`, coded(code)],
    ),
    ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE'].map((code) => [
      `never connected: ${code}`,
      coded(code),
    ]),
    ...[
      'timeout exceeded when trying to connect',
      'Connection terminated due to connection timeout',
      'Client has encountered a connection error and is not queryable',
      'Client was closed and is not queryable',
      'Cannot use a pool after calling end on the pool',
    ].map((text) => [`never sent: ${text}`, texted(text)]),
  ] as [string, Error][])('has changed nothing: %s', (_, error) => {
    expect(determineOutcome(error, 'committing')).toBe('not applied')
  })

  test.each([
    ...['57P01', '57P02', '57P04', '57P05', '08000', '08003', '08006', '08P01', '40003'].map((code) => [
      code,
      coded(code),
    ]),
    ...['53100', '58030', 'XX000'].map((code) => [`may come from a crash: ${code}`, coded(code)]),
    ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'].map((code) => [code, coded(code)]),
    ...[
      'Connection terminated unexpectedly',
      'Connection terminated',
      'Query read timeout',
      'anything else',
    ].map((text) => [text, texted(text)]),
  ] as [string, Error][])('may have changed something: %s', (_, error) => {
    expect(determineOutcome(error, 'committing')).toBe('unknown')
    for (const phase of ['connecting', 'before commit'] as const)
      expect(determineOutcome(error, phase)).toBe('not applied')
  })
})

test('an error keeps the note that nobody knows, and others have none', () => {
  const [unknown, known] = [coded('57P01'), coded('57P01')]
  markOutcome(unknown, 'committing')
  markOutcome(known, 'before commit')
  expect([isOutcomeUnknown(unknown), isOutcomeUnknown(known), isOutcomeUnknown(undefined)]).toEqual([
    true,
    false,
    false,
  ])
})

describe('another connection', () => {
  test.each(['57P01', '57P02', '57P03', '57P04', '57P05', '08006', '08P01', '25006', 'ECONNRESET', 'EPIPE'])(
    'may do better after %s, and others to that server are lost too',
    (code) => {
      expect([isLost(coded(code)), isRetryable(coded(code))]).toEqual([true, true])
    },
  )
  test.each([
    'Connection terminated unexpectedly',
    'Connection terminated',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
  ])('may do better after: %s', (text) => {
    expect([isLost(texted(text)), isRetryable(texted(text))]).toEqual([true, true])
  })
  test('may be made after a refusal, which says nothing about those that are open', () => {
    expect([isLost(coded('ECONNREFUSED')), isRetryable(coded('ECONNREFUSED'))]).toEqual([false, true])
  })
  test.each(['53300', '57014', '40001', '40P01', '55P03', '25P03', '23505', '28P01', 'EMFILE', 'ENOTFOUND'])(
    'does no better after %s',
    (code) => {
      expect([isLost(coded(code)), isRetryable(coded(code))]).toEqual([false, false])
    },
  )
  test.each([
    'timeout exceeded when trying to connect',
    'Connection terminated due to connection timeout',
    'Query read timeout',
  ])('comes too late after: %s', (text) => {
    expect([isLost(texted(text)), isRetryable(texted(text))]).toEqual([false, false])
  })
})

test('a transaction that lost against another one would succeed the next time', () => {
  expect(['40001', '40P01', '55P03', '57P01'].map((code) => isConflict(coded(code)))).toEqual([
    true,
    true,
    false,
    false,
  ])
})
