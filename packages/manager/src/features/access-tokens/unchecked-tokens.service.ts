// Tokens of an older installation have no checksum. This file detects whether any exist and queues their verification.
// Anyone can forge such a token for a known prefix, so only a few are hashed.
import { createSingleFlight } from '../../platform/cache/single-flight.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { unavailable } from '../../platform/errors.ts'
import { hasUncheckedTokens } from './access-tokens.store.ts'

const cacheMs = 5_000
const maxWaiting = 8

/**
 * Returns a function that tells whether tokens without a checksum exist. It runs on demand, and queries at most once
 * every 5 s.
 */
export function createUncheckedTokens(database: Pick<Database, 'run'>): () => Promise<boolean> {
  const once = createSingleFlight<boolean>()
  let known = { any: false, until: 0 }
  return async () => {
    if (performance.now() < known.until) return known.any
    return once('any', async () => {
      const any = await hasUncheckedTokens(database.run)
      known = { any, until: performance.now() + cacheMs }
      return any
    })
  }
}

/**
 * Verifies tokens with the same prefix one after another, so that each attempt sees the failures of the previous ones.
 * Only a few attempts can wait. Concurrent attempts with the same name share one result.
 */
export function createPrefixQueue<T>() {
  const once = createSingleFlight<T>()
  const queues = new Map<string, { tail: Promise<unknown>; waiting: number }>()
  const enqueue = async (prefix: string, work: () => Promise<T>): Promise<T> => {
    const queue = queues.get(prefix) ?? { tail: Promise.resolve(), waiting: 0 }
    if (queue.waiting >= maxWaiting)
      throw unavailable('too many tokens with this prefix are being verified; try again')
    queues.set(prefix, queue)
    queue.waiting++
    const result = queue.tail.then(work)
    queue.tail = result.catch(() => undefined)
    try {
      return await result
    } finally {
      queue.waiting--
      if (queue.waiting === 0) queues.delete(prefix)
    }
  }
  return (prefix: string, name: string, work: () => Promise<T>): Promise<T> =>
    once(`${prefix} ${name}`, () => enqueue(prefix, work))
}
