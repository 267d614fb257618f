import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type ThrottleLimits, createFailureWindow } from './failure-window.ts'
import type { Redis } from '../redis/redis.ts'
import { createThrottle } from './throttle.ts'

const minute = 60_000
const limits: ThrottleLimits = {
  failures: 3,
  windowMs: 10 * minute,
  blockMs: minute,
  maxBlockMs: 5 * minute,
}
const start = 1_700_000_000_000

/** Reports failures at one point in time until a block starts; returns their number and the duration of the block. */
function failUntilBlocked(window: ReturnType<typeof createFailureWindow>, client: string, now: number) {
  for (let failures = 1; failures <= 1_000; failures++) {
    const length = window.fail(client, now)
    if (length > 0) return { failures, length }
  }
  throw new Error('no block began')
}

describe('the failure window', () => {
  test('the last of so many failures begins a block, which then counts down', () => {
    const window = createFailureWindow(limits)
    expect([window.fail('a', start), window.fail('a', start + 1)]).toEqual([0, 0])
    expect(window.getBlockedMs('a', start + 1)).toBe(0)
    expect(window.fail('a', start + 2)).toBe(minute)
    expect(window.getBlockedMs('a', start + 2)).toBe(minute)
    expect(window.getBlockedMs('a', start + 1 + minute)).toBe(1)
    expect(window.getBlockedMs('a', start + 2 + minute)).toBe(0)
  })

  test('blocks double up to the longest one and stay there', () => {
    const window = createFailureWindow(limits)
    let now = start
    for (const expected of [1, 2, 4, 5, 5, 5]) {
      expect(failUntilBlocked(window, 'a', now)).toEqual({ failures: 3, length: expected * minute })
      now += expected * minute
    }
  })

  test('a first block is no longer than the longest one', () => {
    const window = createFailureWindow({ ...limits, failures: 1, maxBlockMs: 1_000 })
    expect(window.fail('a', start)).toBe(1_000)
  })

  test('a block may last until the window ends, and is never doubled', () => {
    const window = createFailureWindow({ ...limits, blockMs: 'window', maxBlockMs: limits.windowMs })
    for (const from of [start, start + limits.windowMs]) {
      expect([window.fail('a', from), window.fail('a', from + minute)]).toEqual([0, 0])
      expect(window.fail('a', from + 4 * minute)).toBe(limits.windowMs - 4 * minute)
      expect(window.getBlockedMs('a', from + limits.windowMs - 1)).toBe(1)
      expect(window.getBlockedMs('a', from + limits.windowMs)).toBe(0)
    }
  })

  test('a window begins with its first failure and ends on time, whatever comes in between', () => {
    const window = createFailureWindow(limits)
    window.fail('a', start)
    window.fail('a', start + limits.windowMs - 1)
    expect(window.fail('a', start + limits.windowMs)).toBe(0)
    // Only the failure that opened the new window is remembered.
    expect(window.fail('a', start + limits.windowMs + 1)).toBe(0)
    expect(window.fail('a', start + 2 * limits.windowMs - 1)).toBe(minute)
  })

  test('clients are counted apart, and one that is forgotten begins anew', () => {
    const window = createFailureWindow(limits)
    failUntilBlocked(window, 'a', start)
    expect(window.getBlockedMs('b', start)).toBe(0)
    expect(failUntilBlocked(window, 'b', start)).toEqual({ failures: 3, length: minute })
    window.forget('a')
    expect(window.getBlockedMs('a', start)).toBe(0)
    expect(failUntilBlocked(window, 'a', start)).toEqual({ failures: 3, length: minute })
    expect(window.getBlockedMs('b', start)).toBe(minute)
  })

  test('a block that others counted is taken over and never shortens one', () => {
    const window = createFailureWindow(limits)
    window.block('a', start, 2 * minute)
    expect(window.getBlockedMs('a', start + 1)).toBe(2 * minute - 1)
    window.block('a', start + 1, minute)
    expect(window.getBlockedMs('a', start + 1)).toBe(2 * minute - 1)
    window.block('a', start + 1, 3 * minute)
    expect(window.getBlockedMs('a', start + 1)).toBe(3 * minute)
    // The applied blocks do not increase the block count, so the next block has the initial duration.
    expect(failUntilBlocked(window, 'a', start + 4 * minute).length).toBe(minute)
  })

  test('what others forgot is forgotten once, failures, block and doubling alike', () => {
    const window = createFailureWindow(limits)
    failUntilBlocked(window, 'a', start)
    window.clearBefore('a', 0)
    expect(window.getBlockedMs('a', start)).toBe(minute)
    window.clearBefore('a', 1_000)
    expect(window.getBlockedMs('a', start)).toBe(0)
    expect(failUntilBlocked(window, 'a', start)).toEqual({ failures: 3, length: minute })
    // Neither the same success nor an earlier one clears failures that happened after it.
    for (const clearedAt of [1_000, 999]) window.clearBefore('a', clearedAt)
    expect(window.getBlockedMs('a', start)).toBe(minute)
    expect(failUntilBlocked(window, 'a', start + minute).length).toBe(2 * minute)
  })

  test('whatever the times, a block begins exactly when that many failures fall into one window', () => {
    // A failure window has room for many clients and is slow to create. All runs therefore share a few windows, and
    // each run uses a new client.
    const windows = [
      { failures: 1, windowMs: minute, blockMs: minute, maxBlockMs: 60 * minute },
      { failures: 2, windowMs: 20 * minute, blockMs: 3 * minute, maxBlockMs: 10 * minute },
      { failures: 3, windowMs: 90_001, blockMs: 70_003, maxBlockMs: 500_009 },
      { failures: 6, windowMs: 60 * minute, blockMs: 10 * minute, maxBlockMs: minute },
    ].map((limits) => ({ limits, window: createFailureWindow(limits) }))
    const gaps = fc.array(
      fc.oneof(fc.nat({ max: 1_000 }), fc.nat({ max: 5 * minute }), fc.nat({ max: 90 * minute })),
      { minLength: 1, maxLength: 60 },
    )
    fc.assert(
      fc.property(fc.constantFrom(...windows), gaps, ({ limits, window }, gaps) => {
        const client = randomUUID()
        // The model counts the failures since the last block. The first failure opens the window.
        let [now, opened, counted, blocks, freeAt] = [start, -Infinity, 0, 0, 0]
        for (const gap of gaps) {
          now += gap
          expect(window.getBlockedMs(client, now)).toBe(Math.max(0, freeAt - now))
          // Failures of a blocked client are not counted.
          if (now < freeAt) continue
          if (now - opened >= limits.windowMs) [opened, counted] = [now, 0]
          counted++
          const isLast = counted === limits.failures
          const length = Math.min(limits.blockMs * 2 ** blocks, limits.maxBlockMs)
          expect(window.fail(client, now)).toBe(isLast ? length : 0)
          if (isLast) [opened, blocks, freeAt] = [-Infinity, blocks + 1, now + length]
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('the shared counters', () => {
  let service: TestApp
  beforeAll(async () => {
    service = await startTestApp()
  })
  afterAll(() => service.close())

  async function redisAnswers(): Promise<void> {
    for (let tries = 0; tries < 6_000 && !service.world.redis.isUp(); tries++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    expect(service.world.redis.isUp()).toBe(true)
  }

  // Ages the state in Redis, so that the test does not need to wait.
  const ageScript = `
    if redis.call('EXISTS', KEYS[1]) == 1 then
      for _, field in ipairs({'window', 'blocked'}) do redis.call('HINCRBY', KEYS[1], field, ARGV[1]) end
    end
    return 1`

  test('decide like the failure window on any sequence of failures', async () => {
    const { log, metrics, redis } = service.world
    let lapses = 0
    const watched: Redis = {
      ...redis,
      eval: async (...call) => {
        const result = await redis.eval(...call)
        if (result === null) lapses++
        return result
      },
    }
    // This replica's clock advances so far between two calls that the replica remembers nothing, so only
    // Redis decides.
    const forgetful = (limits: ThrottleLimits) => {
      let now = start
      const clock = { now: () => new Date(now) }
      const throttle = createThrottle('agreement', limits, {
        redis: watched,
        clock,
        metrics,
        log,
        authFailures: { lockout: () => undefined },
      })
      return {
        /**
         * Counts a failure. Returns the remaining time of the current block, and the duration of the block
         * that the failure starts.
         */
        fail: async (client: string) => {
          now += 365 * 24 * 60 * minute
          const present = await throttle.fail(client)
          return { present, begun: throttle.getKnownBlockMs(client) - present }
        },
        blockedMs: (client: string) => {
          now += 365 * 24 * 60 * minute
          return throttle.getBlockedMs(client)
        },
        close: () => throttle.close(),
      }
    }

    // Durations are whole units, and every gap is slightly longer than whole units, so real time affects no comparison.
    const unit = 10 * minute
    const whole = (min: number, max: number) => fc.integer({ min, max }).map((units) => units * unit)
    const kinds = [
      { failures: 2, windowMs: unit, blockMs: unit, maxBlockMs: 12 * unit },
      { failures: 3, windowMs: 6 * unit, blockMs: 2 * unit, maxBlockMs: 5 * unit },
      { failures: 5, windowMs: 3 * unit, blockMs: 4 * unit, maxBlockMs: unit },
      { failures: 3, windowMs: 4 * unit, blockMs: 'window' as const, maxBlockMs: 4 * unit },
    ].map((limits) => ({ window: createFailureWindow(limits), replica: forgetful(limits) }))
    const step = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: whole(0, 8) })
    const sequence = fc.array(step, { minLength: 8, maxLength: 30 })
    const slack = 10_000
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...kinds), sequence, async ({ window, replica }, steps) => {
        await redisAnswers()
        const [client, before] = [randomUUID(), lapses]
        const differences: unknown[] = []
        let now = start
        for (const gap of steps) {
          const elapsed = gap === 0 ? 0 : gap + slack
          now += elapsed
          await watched.eval(ageScript, [redis.key(`throttle:agreement:${client}`)], [String(-elapsed)])
          const present = window.getBlockedMs(client, now)
          const begun = present > 0 ? 0 : window.fail(client, now)
          const shared = await replica.fail(client)
          const read = await replica.blockedMs(client)
          const expectedRead = present + begun
          const isNear = (value: number, wanted: number): boolean =>
            value <= wanted && value > wanted - slack / 2
          const agree = (value: number, wanted: number): boolean =>
            wanted === 0 ? value === 0 : isNear(value, wanted)
          const agrees =
            agree(shared.begun, begun) && agree(shared.present, present) && agree(read, expectedRead)
          if (!agrees) differences.push({ now: now - start, present, begun, shared, read })
        }
        // If Redis timed out, the replica correctly counted the failure by itself, so the run is discarded.
        fc.pre(lapses === before)
        expect(differences).toEqual([])
      }),
      { numRuns: 60 },
    )
    for (const { replica } of kinds) await replica.close()
  })
})
