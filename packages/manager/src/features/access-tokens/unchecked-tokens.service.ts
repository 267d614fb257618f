// Tokens from an older installation have no checksum. This file detects whether such tokens exist, and queues their
// verification. Anyone can forge such a token for a known prefix, so only a few tokens are hashed.
import { createSingleFlight } from '../../platform/cache/single-flight.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { unavailable } from '../../platform/errors.ts'
import { hasUncheckedTokens } from './access-tokens.store.ts'

const cacheMs = 5_000
const maxWaiting = 8

/**
 * Returns a function that reports whether tokens without a checksum exist. The function queries the database
 * at most once every 5 s.
 */
export function createUncheckedTokens(database: Pick<Database, 'run'>): () => Promise<boolean> {
  const runOnce = createSingleFlight<boolean>()
  let cachedResult = { hasTokens: false, expiresAt: 0 }
  return async () => {
    if (performance.now() < cachedResult.expiresAt) return cachedResult.hasTokens
    return runOnce('any', async () => {
      const hasTokens = await hasUncheckedTokens(database.run)
      cachedResult = { hasTokens, expiresAt: performance.now() + cacheMs }
      return hasTokens
    })
  }
}

/**
 * Returns a function that verifies tokens with the same prefix one after another, so that each attempt sees the
 * failures of the previous attempts. Only a few attempts can wait. Concurrent attempts with the same name share one
 * result.
 */
export function createPrefixQueue<T>() {
  const runOnce = createSingleFlight<T>()
  const queues = new Map<string, { tail: Promise<unknown>; waitingCount: number }>()
  const enqueue = async (prefix: string, work: () => Promise<T>): Promise<T> => {
    const queue = queues.get(prefix) ?? { tail: Promise.resolve(), waitingCount: 0 }
    if (queue.waitingCount >= maxWaiting)
      throw unavailable('too many tokens with this prefix are being verified; try again')
    queues.set(prefix, queue)
    queue.waitingCount++
    const result = queue.tail.then(work)
    queue.tail = result.catch(() => undefined)
    try {
      return await result
    } finally {
      queue.waitingCount--
      if (queue.waitingCount === 0) queues.delete(prefix)
    }
  }
  return (prefix: string, name: string, work: () => Promise<T>): Promise<T> =>
    runOnce(`${prefix} ${name}`, () => enqueue(prefix, work))
}
