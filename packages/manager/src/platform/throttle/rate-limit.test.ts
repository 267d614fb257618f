// Tests the in-process rate limiter against a model, and the rate limiter in Redis.
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { redisUrl } from '@manager/harness/run-engines.ts'
import { createRedis } from '../redis/redis.ts'
import { createLog } from '../log/log.ts'
import { createMetrics } from '../metrics.ts'
import { type RateLimit, createLocalRateLimit, createRateLimit } from './rate-limit.ts'

describe('a limit in one process', () => {
  test('gives the whole burst at once, then one use each time that one comes back', () => {
    const take = createLocalRateLimit({ perSecond: 10, burst: 3 })
    expect([1, 2, 3].map(() => take('a', 0))).toEqual([0, 0, 0])
    expect(take('a', 0)).toBe(100)
    expect(take('a', 60)).toBe(40)
    expect(take('a', 100)).toBe(0)
    expect(take('a', 100)).toBe(100)
    expect(take('b', 100)).toBe(0)
    expect([1, 2, 3, 4].map(() => take('a', 10_000))).toEqual([0, 0, 0, 100])
  })

  test('never gives more than the burst and what came back, and tells when there is more', () => {
    const limits = fc.record({
      perSecond: fc.integer({ min: 1, max: 1_000 }),
      burst: fc.integer({ min: 1, max: 20 }),
    })
    fc.assert(
      fc.property(limits, fc.array(fc.nat(500), { maxLength: 60 }), (limit, gaps) => {
        const take = createLocalRateLimit(limit)
        let [now, tokens] = [0, limit.burst]
        for (const gap of gaps) {
          now += gap
          tokens = Math.min(limit.burst, tokens + (gap * limit.perSecond) / 1_000)
          const waitMs = take('x', now)
          const expectedMs = (Math.max(0, 1 - tokens) * 1_000) / limit.perSecond
          // The result is rounded up to whole milliseconds, and floating-point sums are slightly inexact.
          expect(waitMs - expectedMs).toBeGreaterThan(-0.01)
          expect(waitMs - expectedMs).toBeLessThan(1.01)
          if (waitMs === 0) tokens -= 1
        }
      }),
    )
  })
})

describe('a limit in Redis', () => {
  const metrics = createMetrics('test')
  const log = createLog('silent', process.stdout)
  const timeouts = { pingMs: 30_000, commandMs: 30_000 }
  const open = (keyPrefix: string) => createRedis({ url: redisUrl(), keyPrefix, timeouts }, { log, metrics })
  const stores = [open('rates'), open('rates')]
  afterAll(async () => {
    for (const store of stores) await store.close()
  })

  test('is shared, and what is kept of it goes by itself', async () => {
    await expect.poll(() => stores.every((store) => store.isUp()), { timeout: 60_000 }).toBe(true)
    const name = randomUUID()
    // One use is restored every 1,000 s.
    const [one, other] = stores.map((store) =>
      createRateLimit('test', { perSecond: 0.001, burst: 5 }, store),
    ) as [RateLimit, RateLimit]
    const waits = await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : other)(name)))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
    for (const wait of waits.filter((one) => one !== 0)) {
      expect(wait).toBeGreaterThan(900_000)
      expect(wait).toBeLessThanOrEqual(1_000_000)
    }
    const key = stores[0]?.key(`rate:test:${name}`) ?? ''
    const ttl = await stores[0]?.eval("return redis.call('PTTL', KEYS[1])", [key])
    expect(ttl).toBeGreaterThan(4_000_000)
    expect(ttl).toBeLessThanOrEqual(5_000_000)
  })
})
