// Prepared statements, which run at every request, and other single statements outside Kysely.
import { createTimeLimit } from './acquire.ts'
import { currentOwner } from './owner.ts'
import type { Lane, OnStatementTime } from './statement-times.ts'
import { type Statement, type StatementOptions, runStatement } from './statements.ts'
import type { FairShare, Lease } from '../throttle/fair-share.ts'

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
export type RunOptions = StatementOptions & { watch: Watch; lane: Lane; shares?: readonly FairShare[] }

/** Runs statements on a pool. With shares, projects take turns, and so do statements that serve many requests. */
export function createRun({ watch, lane, shares = [], ...options }: RunOptions): Run {
  const run = async (statement: Statement, values: unknown[]): Promise<unknown[]> => {
    const time = createTimeLimit(options.pool, options.readTimeoutMs)
    const leases: Lease[] = []
    try {
      for (const share of shares) leases.push(await share.take([currentOwner(statement.name)]))
      return (await runStatement(options, statement, values, time)).rows
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
