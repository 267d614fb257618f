// Prepared statements, which run on every request, and other individual statements outside Kysely.
import { createTimeLimit } from './acquire.ts'
import { getCurrentOwner } from './owner.ts'
import type { PoolName, OnStatementTime } from './statement-times.ts'
import { type Statement, type StatementOptions, runStatement } from './statements.ts'
import type { FairShare, Lease } from '../throttle/fair-share.ts'

/** A statement that each connection prepares once under its name. */
export type PreparedStatement = Statement & {
  name: string
  /**
   * `quick`: a change that does not wait for the disk. `large`: its rows may be large, so authentication must not wait
   * behind it. `long`: it may take longer than a request, and each run is planned for its values.
   */
  size?: 'quick' | 'large' | 'long'
}
/** Returns the rows of the statement. */
export type Run = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>
/** Returns the rows of a prepared statement. */
export type RunPrepared = <Row extends object>(
  statement: PreparedStatement,
  values: unknown[],
) => Promise<Row[]>
/** Called after each statement; only prepared statements have a name. */
export type StatementEnd = (statement: { sql: string; name: string | null; durationMs: number }) => void
/** Observers of statements, for tests, metrics and traces. */
export type StatementObservers = {
  onStatement?: (sql: string) => void
  onStatementTime?: OnStatementTime
  onEnd: StatementEnd | null
}
/** The pool, the shares that divide it, and the observers of its statements. */
export type RunOptions = StatementOptions & {
  watch: StatementObservers
  lane: PoolName
  shares?: readonly FairShare[]
}

/**
 * Runs statements on a pool. With shares, projects take turns. If a statement serves many requests, each run counts as
 * a separate owner, so that no run waits for one that stalls.
 */
export function createRun({ watch, lane, shares = [], ...options }: RunOptions): Run {
  let count = 0
  const run = async (statement: Statement, values: unknown[]): Promise<unknown[]> => {
    const leases: Lease[] = []
    try {
      const owner = getCurrentOwner(`${statement.name} ${++count}`)
      for (const share of shares) leases.push(await share.take([owner]))
      const timeLimit = createTimeLimit(options.pool, options.readTimeoutMs)
      return (await runStatement(options, statement, values, timeLimit)).rows
    } finally {
      for (const lease of leases) lease.release()
    }
  }
  return async <Row extends object>(statement: Statement, values: unknown[]) => {
    watch.onStatement?.(statement.text)
    const startedAt = performance.now()
    try {
      return (await run(statement, values)) as Row[]
    } finally {
      const durationMs = performance.now() - startedAt
      watch.onStatementTime?.(lane, durationMs / 1_000)
      watch.onEnd?.({ sql: statement.text, name: statement.name ?? null, durationMs })
    }
  }
}
