// These tests measure the time to redact text that is designed to be slow.
import { describe, expect, test } from 'vitest'
import {
  expectBodiesBounded,
  expectBodyBounded,
  expectQueriesAndHeadersBounded,
  hostile,
} from '../../../test/kit/slow-texts.ts'
import { type Budget, createBudget } from './redact-budget.pure.ts'

// The limit is about ten times the time for redacting 64 KiB.
const maxMs = 50
const rounds = 5

/** Returns the CPU time of this thread, which does not increase while the thread waits on a busy machine. */
function cpuMs(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Checks that every run stays within the budget, and that at least one run is fast enough. */
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
