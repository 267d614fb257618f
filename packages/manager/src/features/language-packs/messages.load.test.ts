// How long large contents take. Pure.
import { expect, test } from 'vitest'
import { longTexts, manyParts, muchText, shapes } from '../../../test/kit/messages.ts'
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import { expandMessages, isLocale } from './messages.pure.ts'

/** The shortest of several runs, in milliseconds: other work on the machine only ever adds. */
function bestOf(runs: number, content: readonly KeyValuePair[]): number {
  const times = Array.from({ length: runs }, () => {
    const start = performance.now()
    expandMessages(content)
    return performance.now() - start
  })
  return Math.min(...times)
}

test('ten times the keys cost about ten times as much, not a hundred times', () => {
  for (const [shape, keyAt] of Object.entries(shapes)) {
    const of = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ Key: keyAt(index), Value: 'v' }))
    const [few, many] = [of(1_000), of(10_000)]
    expect(new Set(many.map(({ Key }) => Key)).size).toBe(10_000)
    // Once more when the machine was busy in every one of the runs.
    const ratios = [0, 1, 2].map(() => bestOf(8, many) / bestOf(20, few))
    const ratio = Math.min(...ratios)
    expect([shape, ratio < 35 ? 'about ten' : ratio]).toEqual([shape, 'about ten'])
  }
})

test('10,000 keys with a megabyte of texts are expanded in far less than a second', () => {
  const content = muchText()
  const bytes = content.reduce((sum, { Key, Value }) => sum + Buffer.byteLength(Key + Value), 0)
  expect(bytes).toBeGreaterThan(1_000_000)
  expect(bestOf(5, content)).toBeLessThan(1_000)
})

test('5,000 keys of 20 parts each, none of them shared, are expanded in less than a second', () => {
  expect(bestOf(3, manyParts())).toBeLessThan(1_000)
})

test('long texts of hyphens and letters are judged at once', () => {
  const start = performance.now()
  expect(longTexts.map(isLocale)).toEqual([false, false, false, false])
  expect(performance.now() - start).toBeLessThan(500)
})
