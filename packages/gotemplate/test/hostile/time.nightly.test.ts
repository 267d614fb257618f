// Tests that no hostile template blocks the event loop for long.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bombs } from './bombs.ts'
import { attempt } from './kit.ts'
import { unparsable } from './unparsable.ts'

/**
 * The maximum duration of a template. Other processes use the same machine, so tests that measure time are
 * retried.
 */
const LIMIT_MS = 50

/** Returns the CPU time of the fastest of five runs. The CPU time of this thread excludes other processes. */
function shortestMs(run: () => unknown): number {
  const times = [1, 2, 3, 4, 5].map(() => {
    const before = process.threadCpuUsage()
    run()
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...times)
}

test.each(bombs)('%s is stopped soon', { retry: 3 }, (_, template) => {
  expect(shortestMs(() => attempt(template))).toBeLessThan(LIMIT_MS)
})

test.each(unparsable)('%s is refused soon', { retry: 3 }, (_, template) => {
  expect(shortestMs(() => attempt(template))).toBeLessThan(LIMIT_MS)
})

test('all bombs one after the other keep the event loop free', { retry: 3 }, async () => {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (let round = 0; round < 3; round++) {
    for (const [, template] of bombs) {
      attempt(template)
      await setImmediate()
    }
  }
  delay.disable()
  expect(delay.percentile(99) / 1e6).toBeLessThan(LIMIT_MS)
})
