// How long texts take that are made to be slow: no longer than their work allows. Pure.
import { describe, expect, test } from 'vitest'
import {
  expectBodiesBounded,
  expectBodyBounded,
  expectQueriesAndHeadersBounded,
  hostile,
} from '../../../test/kit/slow-texts.ts'
import { createWork, type Work } from './redact-work.pure.ts'

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

/** Runs within the work for so many characters, and in a time that is short at least once. */
function expectBounded(characters: number, run: (work: Work) => void): void {
  let best = Infinity
  for (let round = 0; round < rounds && best > maxMs; round++) {
    const work = createWork(characters)
    best = Math.min(
      best,
      cpuMs(() => run(work)),
    )
    // What runs out is noticed when it is paid for, which is a pass over the text later at most.
    expect(work.spent).toBeLessThan(work.limit * 1.3)
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
