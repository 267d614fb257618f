import { LRUCache } from 'lru-cache'
import { type Cron, parseCron } from './cron.pure.ts'

export type CronCache = ReturnType<typeof createCronCache>

// A parsed expression uses 80 or 160 KB, mostly for the year table of croner.
const maxCachedCrons = 100

/**
 * Creates an LRU cache for the parsed expressions of stored triggers. Other expressions are parsed without the cache
 * (parseCron).
 */
export function createCronCache() {
  const cache = new LRUCache<string, Cron>({ max: maxCachedCrons })
  return {
    /** Returns the parsed expression. Throws a CronError like parseCron. */
    getCron: (expression: string): Cron => {
      const cachedCron = cache.get(expression)
      if (cachedCron !== undefined) return cachedCron
      const cron = parseCron(expression)
      cache.set(expression, cron)
      return cron
    },
  }
}
