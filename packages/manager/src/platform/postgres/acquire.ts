// A connection of a pool within a time. The pool has one timeout for every wait, and starts it again for a second try; a caller
// that has waited already must not wait as long again.
import type { Pool, PoolClient } from 'pg'
import { type TimedQuery, connectionOf } from './connections.ts'

const shortMs = 100
// A statement that is sent has a chance to be answered.
const leastMs = 500

/**
 * How long all tries of one statement together may take: as long as one without a wait, or as a wait for a connection and
 * a quick statement.
 */
export function createTimeLimit(pool: Pool, readTimeoutMs: number) {
  const startedAt = performance.now()
  const limitMs = Math.max(readTimeoutMs, timeoutOf(pool) + leastMs)
  const leftMs = (): number => startedAt + limitMs - performance.now()
  return {
    /** For a wait for a connection. */
    waitMs: (): number => Math.max(1, leftMs()),
    /** For a statement. One that may not run twice has its whole time: after a timeout its outcome is unknown. */
    limits: (mayRunTwice: boolean): Pick<TimedQuery, 'query_timeout' | 'isShort'> => {
      const isShort = mayRunTwice && performance.now() - startedAt > shortMs
      const query_timeout = isShort ? Math.max(leastMs, Math.min(readTimeoutMs, leftMs())) : readTimeoutMs
      return { query_timeout, isShort }
    },
  }
}
const timeoutOf = ({ options }: Pool): number => options.connectionTimeoutMillis ?? 0
export type TimeLimit = ReturnType<typeof createTimeLimit>

/** A free connection immediately, or one within this time or that of the pool, whichever is shorter. */
export async function acquire(pool: Pool, withinMs: number): Promise<PoolClient> {
  const startedAt = performance.now()
  const client = await connect(pool, withinMs)
  if (!connectionOf(client).isRetired) return client
  client.release(true)
  return acquire(pool, Math.max(1, withinMs - (performance.now() - startedAt)))
}

function connect(pool: Pool, withinMs: number): Promise<PoolClient> {
  const connecting = pool.connect()
  // The pool's own timeout is enough, or there is one for everybody who waits.
  const isThere = pool.idleCount > 0 && pool.idleCount >= pool.waitingCount
  if (isThere || withinMs >= timeoutOf(pool)) return connecting
  return inTime(connecting, withinMs)
}

async function inTime(connecting: Promise<PoolClient>, withinMs: number): Promise<PoolClient> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    // As the pool says it.
    late.reject(new Error('timeout exceeded when trying to connect'))
    connecting.then(
      (client) => client.release(),
      () => undefined,
    )
  }, withinMs)
  try {
    return await Promise.race([connecting, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
