// Tests how `npm run test:tiers -- --since` tracks a test between two commits.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { compareTests, readRemovals } from '../tools/moved-tests.ts'

const unit = (file: string, name: string) => ({ tier: 'test', file, name })
const nightly = (file: string, name: string) => ({ tier: 'nightly', file, name })
const ways = (rows: { from: string; to: string }[]): string[] =>
  rows.map(({ from, to }) => `${from} -> ${to}`)

describe('a test of an earlier commit', () => {
  test('is found in a file of another tier, under another file, and without its group', () => {
    const before = [unit('a.test.ts', 'g > one'), unit('b.test.ts', 'two'), unit('c.test.ts', 'h > three')]
    const after = [
      nightly('a.nightly.test.ts', 'g > one'),
      unit('d.test.ts', 'two'),
      unit('c.test.ts', 'three'),
    ]
    const { rows, lostTests: lost } = compareTests(before, after, [])
    expect(ways(rows)).toEqual(['test -> nightly', 'test -> test', 'test -> test'])
    expect(lost).toEqual([])
  })

  test('is lost when it is gone, unless a reason is given for it or for its file', () => {
    const before = [unit('a.test.ts', 'g > one'), unit('a.test.ts', 'g > two'), unit('b.test.ts', 'three')]
    expect(compareTests(before, [], []).lostTests).toEqual(before)
    const removals = [
      { file: 'a.test.ts', name: 'one', reason: 'the option was removed' },
      { file: 'b.test.ts', reason: 'the tool was removed' },
    ]
    const { rows, lostTests: lost } = compareTests(before, [], removals)
    expect(lost).toEqual([before[1]])
    expect(ways(rows)).toEqual([
      'test -> removed: the option was removed',
      'test -> removed: LOST',
      'test -> removed: the tool was removed',
    ])
  })

  test('does not answer for a second test of the same name', () => {
    const before = [unit('a.test.ts', 'one'), unit('b.test.ts', 'one')]
    expect(compareTests(before, [unit('a.test.ts', 'one')], []).lostTests).toEqual([before[1]])
  })

  test('that is new is listed as new', () => {
    expect(ways(compareTests([], [unit('a.test.ts', 'one')], []).rows)).toEqual(['new -> test'])
  })
})

test('every entry of removed-tests.yaml has a reason', () => {
  const entries: unknown = parse(readFileSync(new URL('./removed-tests.yaml', import.meta.url), 'utf8'))
  expect(readRemovals(entries).length).toBeGreaterThan(0)
  expect(() => readRemovals([{ file: 'a.test.ts', reason: '' }])).toThrow('a reason')
})
