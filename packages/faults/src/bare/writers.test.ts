// Checks that planted outages and lost writes are found in the writers' record.
import { expect, test } from 'vitest'
import { findLost, findOutage } from './writers.ts'

const writesAt = (...times: number[]) => times.map((at, index) => ({ id: String(index), at }))

test('the outage ends with the write after the longest gap, not with one that was under way', () => {
  expect(findOutage(writesAt(900, 995, 1_001, 1_050, 6_000, 6_010), 1_000)).toEqual({
    firstWriteMs: 5_000,
    gapMs: 4_950,
  })
  expect(findOutage(writesAt(4_000), 1_000)).toEqual({ firstWriteMs: 3_000, gapMs: 3_000 })
  expect(findOutage([], 1_000).firstWriteMs).toBe(Infinity)
})

test('an acknowledged write that is not there is lost; one that is there without an answer is not', () => {
  const writes = writesAt(1, 2, 3)
  expect(findLost(writes, new Set(['0', '1', '2', 'unanswered']))).toEqual([])
  expect(findLost(writes, new Set(['0', '2']))).toEqual(['1'])
})
