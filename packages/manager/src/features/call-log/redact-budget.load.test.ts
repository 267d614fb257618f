// How long texts take that are made to be slow. Pure.
import { describe, expect, test } from 'vitest'
import {
  expectBodiesBounded,
  expectBodyBounded,
  expectQueriesAndHeadersBounded,
  hostile,
} from '../../../test/kit/slow-texts.ts'
import { type Budget, createBudget } from './redact-budget.pure.ts'

// An order of magnitude above what 64 KiB take.
const maxMs = 50
const rounds = 5

/** The processor time of this thread, which a busy machine does not stretch by its waiting. */
function cpuMs(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Runs within its budget, and in a time that is short at least once. */
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
