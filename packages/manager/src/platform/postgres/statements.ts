// One statement on a connection of its own. After a lost connection it runs again if that does no harm.
import type { Pool, PoolClient, QueryResult } from 'pg'
import { type TimeLimit, acquire } from './acquire.ts'
import { type TimedQuery, queryOn } from './connections.ts'
import { type Struck, isRejected, isWorthAnother, noteOutcome, outcomeOf } from './outcomes.ts'
import type { Retry } from './retry.ts'

/** The caller declares what a statement is. A read and an idempotent change may run twice, a write may not. */
export type StatementKind = 'read' | 'write' | 'idempotent'
/** Each connection prepares a statement with a name once. Columns keep the names the statement gives them. */
export type Statement = { name?: string; kind: StatementKind; text: string }
export type StatementOptions = {
  pool: Pool
  retry: Retry
  /** How long a statement may take, seen from here. */
  readTimeoutMs: number
}

/** Runs the statement on a connection of the pool. All tries share the time limit. */
export async function runStatement(
  { pool, retry, readTimeoutMs }: StatementOptions,
  { name, kind, text }: Statement,
  values: unknown[],
  time: TimeLimit,
): Promise<QueryResult> {
  const mayRunTwice = kind !== 'write'
  let struck: Struck = 'connecting'
  const attempt = async (): Promise<QueryResult> => {
    struck = 'connecting'
    const client = await acquire(pool, time.waitMs())
    struck = 'committing'
    return runAndRelease(client, { name, text, values, ...time.limits(mayRunTwice) })
  }
  const isWorth = (error: unknown): boolean =>
    isWorthAnother(error) && (mayRunTwice || outcomeOf(error, struck) === 'not applied')
  const retrying = { kind: kind === 'read' ? 'read' : 'write', withinMs: readTimeoutMs, isWorth } as const
  try {
    for (let tries = 0; ; tries++)
      try {
        return await retry(attempt, retrying)
      } catch (error) {
        // Each connection of the pool fails at most once.
        if (name === undefined || tries === pool.options.max || !isForgotten(error)) throw error
      }
  } catch (error) {
    if (kind !== 'read') noteOutcome(error, struck)
    throw error
  }
}

async function runAndRelease(client: PoolClient, query: TimedQuery): Promise<QueryResult> {
  try {
    const result = await queryOn(client, query)
    client.release()
    return result
  } catch (error) {
    client.release(isRejected(error) && !isForgotten(error) ? undefined : (error as Error))
    throw error
  }
}

/** A prepared statement the server has lost (26000), or whose columns a migration has changed (0A000). */
const isForgotten = (error: unknown): boolean =>
  ['26000', '0A000'].includes((error as { code?: string }).code ?? '')
