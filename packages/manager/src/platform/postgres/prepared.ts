// Single statements outside Kysely. Each connection prepares a named statement once: for the few that run at every request.
import type { Pool, PoolClient, QueryResult } from 'pg'
import { acquire, createTimeLimit } from './acquire.ts'
import { type TimedQuery, queryOn } from './connections.ts'
import { type Struck, isRejected, isWorthAnother, noteOutcome, outcomeOf } from './outcomes.ts'
import { currentOwner } from './owner.ts'
import { type Attempt, type Retry, type StatementKind, canRunTwice } from './retry.ts'
import type { Lane, OnStatementTime } from './statement-times.ts'
import type { FairShare, Lease } from '../throttle/fair-share.ts'

/** Columns keep the names the statement gives them. */
export type Statement = { name?: string; kind: StatementKind; text: string }
export type PreparedStatement = Statement & {
  name: string
  /**
   * `large`: its rows may be large, so authentication must not wait behind it. `long`: it may take longer than a request, and
   * is planned anew for its values each time.
   */
  size?: 'large' | 'long'
}
/** Returns the rows of the statement. */
export type Run = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>
export type RunPrepared = <Row extends object>(
  statement: PreparedStatement,
  values: unknown[],
) => Promise<Row[]>
/** A prepared statement has a name. */
export type StatementEnd = (statement: { sql: string; name: string | null; durationMs: number }) => void
export type Watch = {
  onStatement?: (sql: string) => void
  onStatementTime?: OnStatementTime
  onEnd: StatementEnd | null
}
/** What all connections of a process share, and how long a statement on these may take, seen from here. */
export type Using = { watch: Watch; retry: Retry; readTimeoutMs: number }

/** Runs statements on this pool. With shares, projects take turns, and so do statements that serve many requests. */
export function runsOn(pool: Pool, lane: Lane, using: Using, shares: readonly FairShare[] = []): Run {
  const { watch, readTimeoutMs } = using
  const run = async (statement: Statement, values: unknown[]): Promise<QueryResult> => {
    const time = createTimeLimit(pool, readTimeoutMs)
    const leases: Lease[] = []
    try {
      for (const share of shares) leases.push(await share.take([currentOwner(statement.name)]))
      return await retried(pool, using, { statement, values, time })
    } finally {
      for (const lease of leases) lease.release()
    }
  }
  return async <Row extends object>(statement: Statement, values: unknown[]) => {
    watch.onStatement?.(statement.text)
    const startedAt = performance.now()
    try {
      return (await run(statement, values)).rows as Row[]
    } finally {
      const durationMs = performance.now() - startedAt
      watch.onStatementTime?.(lane, durationMs / 1_000)
      watch.onEnd?.({ sql: statement.text, name: statement.name ?? null, durationMs })
    }
  }
}

type Call = { statement: Statement; values: unknown[]; time: ReturnType<typeof createTimeLimit> }

async function retried(
  pool: Pool,
  { retry, readTimeoutMs }: Using,
  { statement: { name, text, kind }, values, time }: Call,
): Promise<QueryResult> {
  const mayRepeat = canRunTwice(kind)
  let struck: Struck = 'connecting'
  const attempt: Attempt<QueryResult> = async ({ retries }) => {
    struck = 'connecting'
    const client = await acquire(pool, time.waitMs())
    struck = 'committing'
    // A write has its whole time: after a timeout its outcome is unknown.
    const isShort = mayRepeat && (retries > 0 || time.isShort())
    const query_timeout = isShort ? time.statementMs() : readTimeoutMs
    return runAndRelease(client, { name, text, values, query_timeout, isShort })
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
