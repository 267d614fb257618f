import { LRUCache } from 'lru-cache'
import { type Cron, parseCron } from './cron.pure.ts'

export type Crons = ReturnType<typeof createCrons>

// A parsed expression uses 80 or 160 KB, mostly for the year table of croner.
const maxKept = 100

/**
 * Creates an LRU cache of parsed expressions of stored triggers. Other expressions are parsed without it (parseCron).
 */
export function createCrons() {
  const kept = new LRUCache<string, Cron>({ max: maxKept })
  return {
    /** Returns the parsed expression. Throws a CronError like parseCron. */
    of: (expression: string): Cron => {
      const known = kept.get(expression)
      if (known !== undefined) return known
      const parsed = parseCron(expression)
      kept.set(expression, parsed)
      return parsed
    },
  }
}
