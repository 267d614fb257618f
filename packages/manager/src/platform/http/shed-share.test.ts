// What arrives is refused as far as the loop is late, and for no longer.
import { expect, test } from 'vitest'
import { createShedShare } from './shed-share.ts'

/** The shares after each of these delays. */
const sharesAfter = (delays: readonly number[]): number[] => {
  const { share, note } = createShedShare()
  return delays.map((delayMs) => (note(delayMs), share()))
}
const times = (count: number, delayMs: number): number[] => Array.from({ length: count }, () => delayMs)

test('a loop that is late for a moment refuses nobody', () => {
  expect(sharesAfter([...times(6, 900), 10, ...times(6, 900)])).toEqual(times(13, 0))
  expect(sharesAfter(times(100, 150))).toEqual(times(100, 0))
})

test('one that stays late refuses more and more, and never everybody', () => {
  const shares = sharesAfter(times(100, 600))
  expect(shares.slice(0, 6)).toEqual(times(6, 0))
  expect(shares.slice(6)).toEqual(shares.slice(6).toSorted((a, b) => a - b))
  expect(shares.at(-1)).toBe(0.98)
})

test('one that is in time again refuses nobody after a while', () => {
  const shares = sharesAfter([...times(100, 600), ...times(40, 20)])
  expect(shares.slice(100)).toEqual(shares.slice(100).toSorted((a, b) => b - a))
  expect(shares.at(-1)).toBe(0)
})

test('a load of which the loop can do a fifth settles where the loop is late by little', () => {
  const { share, note } = createShedShare()
  const delays: number[] = []
  let delayMs = 0
  for (let step = 0; step < 400; step++) {
    // What is let in beyond a fifth makes it later, what is missing less late.
    delayMs = Math.max(0, delayMs + 400 * (1 - share() - 0.2))
    note(delayMs)
    delays.push(delayMs)
  }
  const settled = delays.slice(100)
  expect(settled.reduce((sum, one) => sum + one, 0) / settled.length).toBeLessThan(400)
  expect(Math.min(...settled)).toBeLessThan(200)
})
