// Checks that a condition that never holds is reported, and that the time until a condition holds is measured.
import { expect, test } from 'vitest'
import { judgeDrain } from './judge.ts'
import { staysSame, waitQuietly } from './quiet.ts'
import { createVerdict } from './verdict.ts'

const logged: string[] = []
const stage = { log: (text: string): void => void logged.push(text) }

test('the time until it holds is given', async () => {
  let calls = 0
  const seconds = await waitQuietly(stage, {
    what: 'the third look',
    ms: 5_000,
    holds: () => Promise.resolve(++calls === 3),
  })
  expect(seconds).toBeGreaterThanOrEqual(0.3)
  const figures = createVerdict()
  judgeDrain(figures, seconds)
  expect(figures.verdict.broken).toEqual([])
  expect(figures.verdict.figures).toEqual([expect.stringMatching(/^drain_s=/)])
})

test('what never holds breaks a figure', async () => {
  const never = await waitQuietly(stage, { what: 'nothing', ms: 1, holds: () => Promise.resolve(false) })
  const failing = await waitQuietly(stage, {
    what: 'nothing',
    ms: 1,
    holds: () => Promise.reject(new Error('away')),
  })
  expect([never, failing]).toEqual([null, null])
  expect(logged.at(-1)).toBe('timed out after 0.001 s waiting for nothing')
  const figures = createVerdict()
  judgeDrain(figures, never)
  expect(figures.verdict.broken).toMatchObject([{ figure: 'drained' }])
})

test('a number that changes is not still', async () => {
  let value = 0
  const isStill = staysSame(() => Promise.resolve(value), 0)
  expect(await staysSame(() => Promise.resolve(++value), 1)()).toBe(false)
  expect(await isStill()).toBe(true)
  const isStillLong = staysSame(() => Promise.resolve(value), 60_000)
  expect([await isStillLong(), await isStillLong()]).toEqual([false, false])
})
