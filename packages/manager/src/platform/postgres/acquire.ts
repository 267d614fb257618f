// Acquires a pool connection within a deadline. The pool has a single timeout, which restarts with each attempt. A
// caller that has already waited must not wait that long again.
import type { Pool, PoolClient } from 'pg'
import { type TimedQuery, toConnection } from './connections.ts'

const shortWaitMs = 100
// Minimum time for a statement, so that it has a chance to finish.
const minStatementMs = 500

/**
 * Limits the total time of all attempts of one statement. The limit is the read timeout, or the acquire timeout plus
 * the time for a quick statement, whichever is longer.
 */
export function createTimeLimit(pool: Pool, readTimeoutMs: number) {
  const startedAt = performance.now()
  const limitMs = Math.max(readTimeoutMs, getConnectTimeout(pool) + minStatementMs)
  const getRemainingMs = (): number => startedAt + limitMs - performance.now()
  return {
    /** Remaining time to wait for a connection. */
    getWaitMs: (): number => Math.max(1, getRemainingMs()),
    /** A statement that must not run twice gets its full time, because its outcome is unknown after a timeout. */
    limits: (isRepeatable: boolean): Pick<TimedQuery, 'query_timeout' | 'isShort'> => {
      const isShort = isRepeatable && performance.now() - startedAt > shortWaitMs
      const query_timeout = isShort
        ? Math.max(minStatementMs, Math.min(readTimeoutMs, getRemainingMs()))
        : readTimeoutMs
      return { query_timeout, isShort }
    },
  }
}
const getConnectTimeout = ({ options }: Pool): number => options.connectionTimeoutMillis ?? 0
/** The time limit that all attempts of one statement share. */
export type TimeLimit = ReturnType<typeof createTimeLimit>

/** Returns an idle connection immediately, or waits up to `withinMs` or the pool timeout, whichever is shorter. */
export async function acquire(pool: Pool, withinMs: number): Promise<PoolClient> {
  const startedAt = performance.now()
  const client = await connect(pool, withinMs)
  if (!toConnection(client).isRetired) return client
  client.release(true)
  return acquire(pool, Math.max(1, withinMs - (performance.now() - startedAt)))
}

function connect(pool: Pool, withinMs: number): Promise<PoolClient> {
  const pendingClient = pool.connect()
  // No timer is needed if every waiter gets an idle connection, or if the timeout of the pool is shorter.
  const hasIdleClientForAll = pool.idleCount > 0 && pool.idleCount >= pool.waitingCount
  if (hasIdleClientForAll || withinMs >= getConnectTimeout(pool)) return pendingClient
  return withTimeout(pendingClient, withinMs)
}

async function withTimeout(pendingClient: Promise<PoolClient>, withinMs: number): Promise<PoolClient> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    // The same message as the pool's own timeout error, which the error mapping recognizes.
    timeout.reject(new Error('timeout exceeded when trying to connect'))
    pendingClient.then(
      (client) => client.release(),
      () => undefined,
    )
  }, withinMs)
  try {
    return await Promise.race([pendingClient, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
