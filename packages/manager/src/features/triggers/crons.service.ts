import { LRUCache } from 'lru-cache'
import { type Cron, parseCron } from './cron.pure.ts'

export type Crons = ReturnType<typeof createCrons>

// One holds 80 or 160 KB, most of it croner's table of years.
const maxKept = 100

/** Parsed cron expressions of triggers, the ones used last. What is not stored yet is parsed by itself (parseCron). */
export function createCrons() {
  const kept = new LRUCache<string, Cron>({ max: maxKept })
  return {
    /** The parsed expression; throws a CronError as parseCron does. */
    of: (expression: string): Cron => {
      const known = kept.get(expression)
      if (known !== undefined) return known
      const parsed = parseCron(expression)
      kept.set(expression, parsed)
      return parsed
    },
  }
}
