// Runs a single statement on a separate connection. After a lost connection, the statement is retried if
// repeating it is harmless.
import type { Pool, PoolClient, QueryResult } from 'pg'
import { type TimeLimit, acquire } from './acquire.ts'
import { type TimedQuery, queryOn } from './connections.ts'
import { type FailurePhase, isRejected, isRetryable, markOutcome, determineOutcome } from './outcomes.ts'
import type { Retry } from './retry.ts'

/** Declared by the caller: a read or an idempotent change may run twice, a write must not. */
export type StatementKind = 'read' | 'write' | 'idempotent'
/** Each connection prepares a named statement once. Columns keep the names that the statement gives them. */
export type Statement = { name?: string; kind: StatementKind; text: string }
/** The pool for statements and its rules for retries and timeouts. */
export type StatementOptions = {
  pool: Pool
  retry: Retry
  /** Client-side timeout of a statement. */
  readTimeoutMs: number
}

/** Runs the statement on a connection of the pool. All attempts share the time limit. */
export async function runStatement(
  { pool, retry, readTimeoutMs }: StatementOptions,
  { name, kind, text }: Statement,
  values: unknown[],
  timeLimit: TimeLimit,
): Promise<QueryResult> {
  const isRepeatable = kind !== 'write'
  let phase: FailurePhase = 'connecting'
  const attempt = async (): Promise<QueryResult> => {
    phase = 'connecting'
    const client = await acquire(pool, timeLimit.getWaitMs())
    phase = 'committing'
    return runAndRelease(client, { name, text, values, ...timeLimit.limits(isRepeatable) })
  }
  const canRetry = (error: unknown): boolean =>
    isRetryable(error) && (isRepeatable || determineOutcome(error, phase) === 'not applied')
  const retryOptions = {
    kind: kind === 'read' ? 'read' : 'write',
    withinMs: readTimeoutMs,
    canRetry,
  } as const
  try {
    for (let tries = 0; ; tries++)
      try {
        return await retry(attempt, retryOptions)
      } catch (error) {
        // Each connection of the pool can fail in this way at most once.
        if (name === undefined || tries === pool.options.max || !isStalePreparedStatement(error)) throw error
      }
  } catch (error) {
    if (kind !== 'read') markOutcome(error, phase)
    throw error
  }
}

async function runAndRelease(client: PoolClient, query: TimedQuery): Promise<QueryResult> {
  try {
    const result = await queryOn(client, query)
    client.release()
    return result
  } catch (error) {
    client.release(isRejected(error) && !isStalePreparedStatement(error) ? undefined : (error as Error))
    throw error
  }
}

/** Whether the server has lost the prepared statement (26000), or a migration has changed its columns (0A000). */
const isStalePreparedStatement = (error: unknown): boolean =>
  ['26000', '0A000'].includes((error as { code?: string }).code ?? '')
