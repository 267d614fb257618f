// A rate limit that allows a burst and a number of uses per second. Redis counts for all processes, by its own clock.
// While Redis is unreachable, each process counts separately.
import { LRUCache } from 'lru-cache'
import type { Redis } from '../redis/redis.ts'

/** The sustained rate, and the number of uses that may occur at the same time. */
export type RateLimits = { perSecond: number; burst: number }
/** Consumes one use of this name; returns 0, or the milliseconds until the next use if none is left. */
export type RateLimit = (name: string) => Promise<number>

const maxNames = 10_000

// The key stores the time at which the whole burst is available again. Each use postpones this time by the time that
// it takes to restore one use. ARGV: the times to restore one use and the whole burst, in microseconds.
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1])) or now, now) + ARGV[1]
local wait = full - ARGV[2] - now
if wait > 0 then return math.ceil(wait / 1000) end
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return 0`

/** `kind` separates the counters of different limits. */
export function createRateLimit(kind: string, limits: RateLimits, redis: Redis): RateLimit {
  const consumeLocally = createLocalRateLimit(limits)
  const args = [1_000_000 / limits.perSecond, (1_000_000 * limits.burst) / limits.perSecond].map(String)
  return async (name) => {
    const keys = [redis.key(`rate:${kind}:${name}`)]
    const waitMs = await redis.eval(script, keys, args)
    return typeof waitMs === 'number' ? waitMs : consumeLocally(name, performance.now())
  }
}

/** Applies the same limit only within this process, to the most recently used names. */
export function createLocalRateLimit({ perSecond, burst }: RateLimits) {
  const fullTimes = new LRUCache<string, number>({ max: maxNames })
  const msPerUse = 1_000 / perSecond
  return (name: string, nowMs: number): number => {
    const fullAtMs = Math.max(fullTimes.get(name) ?? nowMs, nowMs) + msPerUse
    const waitMs = fullAtMs - msPerUse * burst - nowMs
    // Floating-point sums are slightly inexact.
    if (waitMs > 0.001) return Math.ceil(waitMs)
    fullTimes.set(name, fullAtMs)
    return 0
  }
}
