// These tests measure the time to expand large language packs.
import { expect, test } from 'vitest'
import { longTexts, deepKeys, largePack, shapes } from '../../../test/kit/messages.ts'
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import { expandMessages, isLocale } from './messages.pure.ts'

/** Returns the average CPU time of one run in milliseconds. Unlike elapsed time, it does not depend on other load. */
function costOf(runs: number, content: readonly KeyValuePair[]): number {
  const start = process.threadCpuUsage()
  for (let run = 0; run < runs; run++) expandMessages(content)
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1_000 / runs
}

test('ten times the keys cost about ten times as much, not a hundred times', () => {
  for (const [shape, keyAt] of Object.entries(shapes)) {
    const of = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ Key: keyAt(index), Value: 'v' }))
    const [few, many] = [of(1_000), of(10_000)]
    expect(new Set(many.map(({ Key }) => Key)).size).toBe(10_000)
    // The CPU clock has a resolution of a few milliseconds, so short runs are repeated more than a hundred times.
    const ratios = [0, 1, 2].map(() => costOf(12, many) / costOf(120, few))
    const ratio = Math.min(...ratios)
    expect([shape, ratio < 35 ? 'about ten' : ratio]).toEqual([shape, 'about ten'])
  }
})

test('10,000 keys with a megabyte of texts are expanded in far less than a second', () => {
  const content = largePack()
  const bytes = content.reduce((sum, { Key, Value }) => sum + Buffer.byteLength(Key + Value), 0)
  expect(bytes).toBeGreaterThan(1_000_000)
  expect(costOf(5, content)).toBeLessThan(1_000)
})

test('5,000 keys of 20 parts each, none of them shared, are expanded in less than a second', () => {
  expect(costOf(3, deepKeys())).toBeLessThan(1_000)
})

test('long texts of hyphens and letters are judged at once', () => {
  const start = performance.now()
  expect(longTexts.map(isLocale)).toEqual([false, false, false, false])
  expect(performance.now() - start).toBeLessThan(500)
})
