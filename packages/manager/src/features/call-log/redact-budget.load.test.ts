// These tests measure the time to redact texts that are designed to be slow.
import { describe, expect, test } from 'vitest'
import {
  expectBodiesBounded,
  expectBodyBounded,
  expectQueriesAndHeadersBounded,
  hostile,
} from '../../../test/kit/slow-texts.ts'
import { type Budget, createBudget } from './redact-budget.pure.ts'

// The limit is about ten times the time that redacting 64 KiB takes.
const maxMs = 50
const rounds = 5

/** Returns the CPU time of this thread, which does not grow while a busy machine makes it wait. */
function cpuMs(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Checks that the run stays within its budget, and is fast enough at least once. */
function expectBounded(run: (budget: Budget) => void): void {
  let best = Infinity
  for (let round = 0; round < rounds && best > maxMs; round++) {
    const budget = createBudget()
    best = Math.min(
      best,
      cpuMs(() => run(budget)),
    )
    expect(budget.spent).toBeLessThanOrEqual(budget.limit)
  }
  expect(best).toBeLessThanOrEqual(maxMs)
}

describe('64 KiB that are made to be slow take no more than their work', () => {
  test.each(Object.entries(hostile))('%s', (_, [text, type = null]) => {
    expectBodyBounded(expectBounded, text, type)
    expectBodyBounded(expectBounded, text, type, true)
  })
})

test('no text that is made of the symbols of all grammars takes more', { timeout: 120_000 }, () => {
  expectBodiesBounded(expectBounded)
})

test('nor does any query or header', { timeout: 120_000 }, () => {
  expectQueriesAndHeadersBounded(expectBounded)
})
