// A limit on how often something may be done: so many at once, and so many a second after that. Redis counts for all
// processes, by its own clock; while it is away each process counts for itself.
import { LRUCache } from 'lru-cache'
import type { Redis } from '../redis/redis.ts'

export type RateLimits = { perSecond: number; burst: number }
/** Takes one use of this name; returns 0, or after how many milliseconds there is one. */
export type RateLimit = (name: string) => Promise<number>

const maxNames = 10_000

// What is kept is the time at which all of the burst is there again; each use moves it by the time that one use takes to
// come back. ARGV: that time and that of the whole burst, in microseconds.
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1])) or now, now) + ARGV[1]
local wait = full - ARGV[2] - now
if wait > 0 then return math.ceil(wait / 1000) end
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return 0`

/** `kind` keeps the counts of different limits apart. */
export function createRateLimit(kind: string, limits: RateLimits, redis: Redis): RateLimit {
  const takeOwn = createOwnLimit(limits)
  const args = [1_000_000 / limits.perSecond, (1_000_000 * limits.burst) / limits.perSecond].map(String)
  return async (name) => {
    const keys = [redis.key(`rate:${kind}:${name}`)]
    const waitMs = await redis.eval(script, keys, args)
    return typeof waitMs === 'number' ? waitMs : takeOwn(name, performance.now())
  }
}

/** The same in this process; the names that were used last are remembered. */
export function createOwnLimit({ perSecond, burst }: RateLimits) {
  const fullAt = new LRUCache<string, number>({ max: maxNames })
  const oneMs = 1_000 / perSecond
  return (name: string, nowMs: number): number => {
    const full = Math.max(fullAt.get(name) ?? nowMs, nowMs) + oneMs
    const waitMs = full - oneMs * burst - nowMs
    // Sums of fractions are a little more or less than what they should be.
    if (waitMs > 0.001) return Math.ceil(waitMs)
    fullAt.set(name, full)
    return 0
  }
}
