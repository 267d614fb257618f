import { expect, test } from 'vitest'
import { type Lookup, createLookupRunner } from './lookups.ts'
import type { RunPrepared } from './prepared.ts'

const lookup: Lookup<{ text: string }> = { name: 'pairs', kind: 'read', text: 'select …' }

function createRecorder() {
  const runs: unknown[][] = []
  const run: RunPrepared = async <Row extends object>(_statement: unknown, values: unknown[]) => {
    runs.push(values)
    const [firsts, seconds] = values as [string[], string[]]
    return firsts
      .map((first, index) => ({ position: index + 1, text: `${first}+${seconds[index]}` }))
      .filter(({ text }) => !text.includes('missing')) as unknown as Row[]
  }
  return { runs, lookUp: createLookupRunner(run) }
}

test('concurrent requests share a statement, and equal keys are read once', async () => {
  const { runs, lookUp } = createRecorder()
  const keys = [
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'c'],
    ['missing', 'b'],
  ]
  const rows = await Promise.all(keys.map((key) => lookUp(lookup, key)))
  expect(rows).toEqual([{ text: 'a+b' }, { text: 'a+b' }, { text: 'a+c' }, null])
  expect(runs).toEqual([
    [
      ['a', 'a', 'missing'],
      ['b', 'c', 'b'],
    ],
  ])
})

test('keys that only look alike are not confused', async () => {
  const { lookUp } = createRecorder()
  const [one, other] = await Promise.all([lookUp(lookup, ['a","b', 'c']), lookUp(lookup, ['a', 'b","c'])])
  expect([one, other]).toEqual([{ text: 'a","b+c' }, { text: 'a+b","c' }])
})

test('a later request reads the row again', async () => {
  const { runs, lookUp } = createRecorder()
  await lookUp(lookup, ['a', 'b'])
  await lookUp(lookup, ['a', 'b'])
  expect(runs).toHaveLength(2)
})
