// Tests the in-process window limiter against a model, and the window limiter in Redis.
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { redisUrl } from '@manager/harness/run-engines.ts'
import { createRedis } from '../redis/redis.ts'
import { createLog } from '../log/log.ts'
import { createMetrics } from '../metrics.ts'
import type { RateLimit } from './rate-limit.ts'
import { createLocalWindowLimit, createWindowLimit } from './window-limit.ts'

describe('a limit in one process', () => {
  test('gives so many within any window, and says when the next one is free', () => {
    const take = createLocalWindowLimit({ count: 2, windowMs: 100 })
    expect([take('a', 0), take('a', 60), take('a', 99), take('b', 99)]).toEqual([0, 0, 1, 0])
    expect([take('a', 100), take('a', 100), take('a', 160)]).toEqual([0, 60, 0])
  })

  test('never gives more, and never less', () => {
    const limits = fc.record({
      count: fc.integer({ min: 1, max: 5 }),
      windowMs: fc.integer({ min: 1, max: 200 }),
    })
    fc.assert(
      fc.property(limits, fc.array(fc.nat(100), { maxLength: 60 }), (limit, gaps) => {
        const take = createLocalWindowLimit(limit)
        const given: number[] = []
        let now = 0
        for (const gap of gaps) {
          now += gap
          const inWindow = given.filter((at) => at > now - limit.windowMs)
          const isFree = inWindow.length < limit.count
          const expected = isFree ? 0 : (inWindow[0] as number) + limit.windowMs - now
          expect(take('x', now)).toBe(expected)
          if (isFree) given.push(now)
        }
      }),
    )
  })
})

describe('a limit in Redis', () => {
  const metrics = createMetrics('test')
  const log = createLog('silent', process.stdout)
  const timeouts = { pingMs: 30_000, commandMs: 30_000 }
  const open = () => createRedis({ url: redisUrl(), keyPrefix: 'windows', timeouts }, { log, metrics })
  const stores = [open(), open()]
  afterAll(async () => {
    for (const store of stores) await store.close()
  })

  test('is shared, frees what is older than the window, and goes by itself', async () => {
    await expect.poll(() => stores.every((store) => store.isUp()), { timeout: 60_000 }).toBe(true)
    const name = randomUUID()
    const [one, other] = stores.map((store) =>
      createWindowLimit('test', { count: 5, windowMs: 600_000 }, store),
    ) as [RateLimit, RateLimit]
    const waits = await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : other)(name)))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
    for (const wait of waits.filter((ms) => ms !== 0)) {
      expect(wait).toBeGreaterThan(500_000)
      expect(wait).toBeLessThanOrEqual(600_000)
    }
    const keys = [stores[0]?.key(`window:test:${name}`) ?? '']
    const run = (script: string) => stores[0]?.eval(script, keys)
    expect(await run("return redis.call('PTTL', KEYS[1])")).toBeGreaterThan(500_000)
    // Moves the oldest use 10 minutes into the past.
    await run("return redis.call('LSET', KEYS[1], 0, tonumber(redis.call('LINDEX', KEYS[1], 0)) - 600000)")
    expect([await one(name), (await other(name)) === 0]).toEqual([0, false])
    expect(await run("return redis.call('LLEN', KEYS[1])")).toBe(5)
  })
})
