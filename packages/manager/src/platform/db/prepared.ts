// Statements that run at every request: each connection prepares them once, under their names.
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import { acquire, createTimeLimit } from './acquire.ts'
import { type Struck, isWorthAnother, noteOutcome, outcomeOf } from './outcomes.ts'
import { type Attempt, type Retry, type StatementKind, canRunTwice } from './retry.ts'
import type { OnStatementTime, PoolName } from './statement-times.ts'

/** Columns keep the names the statement gives them. */
export type PreparedStatement = {
  name: string
  text: string
  kind: StatementKind
}
export type Write = (statement: PreparedStatement, values: unknown[]) => Promise<number>
export type Read = <Row extends object>(statement: PreparedStatement, values: unknown[]) => Promise<Row[]>
/** A prepared statement has a name. */
export type StatementEnd = (statement: { sql: string; name: string | null; durationMs: number }) => void
export type Watch = {
  onStatement?: (sql: string) => void
  onStatementTime?: OnStatementTime
  onEnd: StatementEnd | null
}
/** What all connections of a process share, and how long a statement on these may take, seen from here. */
export type Using = { watch: Watch; retry: Retry; readTimeoutMs: number }

/** Runs statements on this pool; returns their rows. */
export function readsOn(pool: Pool, name: PoolName, using: Using): Read {
  const run = preparedOn(pool, name, using)
  return async <Row extends object>(statement: PreparedStatement, values: unknown[]) =>
    (await run(statement, values)).rows as Row[]
}

/** Runs statements on this pool; returns how many rows they touched. */
export function writesOn(pool: Pool, name: PoolName, using: Using): Write {
  const run = preparedOn(pool, name, using)
  return async (statement, values) => (await run(statement, values)).rowCount ?? 0
}

function preparedOn(pool: Pool, poolName: PoolName, { watch, retry, readTimeoutMs }: Using) {
  const run = async (statement: PreparedStatement, values: unknown[]) => {
    const { name, text, kind } = statement
    const mayRepeat = canRunTwice(kind)
    let struck: Struck = 'connecting'
    const time = createTimeLimit(pool, readTimeoutMs)
    const attempt: Attempt<QueryResult> = async ({ retries }) => {
      struck = 'connecting'
      const client = await acquire(pool, time.waitMs())
      struck = 'committing'
      // A change that may not run twice has its whole time: nobody would know what became of it.
      const isLimited = (retries > 0 || time.isShort()) && mayRepeat
      const limits = isLimited ? { query_timeout: time.statementMs() } : {}
      return runAndRelease(client, { name, text, values, ...limits })
    }
    const isWorth = (error: unknown): boolean =>
      isWorthAnother(error) && (mayRepeat || outcomeOf(error, struck) === 'not applied')
    try {
      for (let tries = 0; ; tries++)
        try {
          return await retry(attempt, {
            kind: kind === 'read' ? 'read' : 'write',
            withinMs: readTimeoutMs,
            isWorth,
          })
        } catch (error) {
          // Each connection of the pool fails at most once.
          if (tries === pool.options.max || !isForgotten(error)) throw error
        }
    } catch (error) {
      if (kind !== 'read') noteOutcome(error, struck)
      throw error
    }
  }
  return async (statement: PreparedStatement, values: unknown[]) => {
    watch.onStatement?.(statement.text)
    const begunAt = performance.now()
    try {
      return await run(statement, values)
    } finally {
      const durationMs = performance.now() - begunAt
      watch.onStatementTime?.(poolName, durationMs / 1_000)
      watch.onEnd?.({ sql: statement.text, name: statement.name, durationMs })
    }
  }
}

/** The pool drops a connection after an error. */
async function runAndRelease(client: PoolClient, query: QueryConfig): Promise<QueryResult> {
  try {
    const result = await client.query(query)
    client.release()
    return result
  } catch (error) {
    client.release(error as Error)
    throw error
  }
}

/** A prepared statement the server has lost (26000), or whose columns a migration has changed (0A000). */
const isForgotten = (error: unknown): boolean =>
  ['26000', '0A000'].includes((error as { code?: string }).code ?? '')
