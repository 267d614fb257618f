// An exact limit on the number of uses within any sliding window. Redis counts for all processes, by its own clock.
// While Redis is unreachable, each process counts separately.
import { LRUCache } from 'lru-cache'
import type { Redis } from '../redis/redis.ts'
import type { RateLimit } from './rate-limit.ts'

/** The number of allowed uses within any window. */
export type WindowLimits = { count: number; windowMs: number }

const maxNames = 10_000

// The key stores the times of the last uses, oldest first. ARGV: the allowed count, and the window in milliseconds.
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local count, window = tonumber(ARGV[1]), tonumber(ARGV[2])
if redis.call('LLEN', KEYS[1]) >= count then
  local wait = tonumber(redis.call('LINDEX', KEYS[1], 0)) + window - now
  if wait > 0 then return wait end
  redis.call('LPOP', KEYS[1])
end
redis.call('RPUSH', KEYS[1], now)
redis.call('PEXPIRE', KEYS[1], window)
return 0`

/** `kind` separates the counters of different limits. Each use in the window costs a few bytes. */
export function createWindowLimit(kind: string, limits: WindowLimits, redis: Redis): RateLimit {
  const consumeLocally = createLocalWindowLimit(limits)
  const args = [limits.count, limits.windowMs].map(String)
  return async (name) => {
    const keys = [redis.key(`window:${kind}:${name}`)]
    const waitMs = await redis.eval(script, keys, args)
    return typeof waitMs === 'number' ? waitMs : consumeLocally(name, performance.now())
  }
}

/** Applies the same limit only within this process, to the most recently used names. */
export function createLocalWindowLimit({ count, windowMs }: WindowLimits) {
  const timesByName = new LRUCache<string, number[]>({ max: maxNames })
  return (name: string, nowMs: number): number => {
    const times = timesByName.get(name) ?? []
    if (times.length >= count) {
      const waitMs = (times[0] as number) + windowMs - nowMs
      if (waitMs > 0) return Math.ceil(waitMs)
      times.shift()
    }
    times.push(nowMs)
    timesByName.set(name, times)
    return 0
  }
}
