// Access to PostgreSQL. Rows come back in camelCase; timestamps as RFC 3339 text with milliseconds, which is what both API and
// audit hashes use.
import type { LogEvent } from 'kysely'
import { type ConnectGate, createConnectGate } from './connect-gate.ts'
import { createRenewals } from './connections.ts'
import { type DatabaseClock, createDatabaseClock } from './database-clock.ts'
import { type Db, createDb } from './handles.ts'
import { type PoolOptions, type Pools, openPools, readTimeoutsOf } from './pools.ts'
import {
  type Run,
  type RunOptions,
  type RunPrepared,
  type StatementEnd,
  type Watch,
  createRun,
} from './prepared.ts'
import { type OnRetry, createRetry } from './retry.ts'
import { type OpenSnapshot, createSnapshots } from './snapshots.ts'
import { service } from './owner.ts'
import type { Lane, OnStatementTime } from './statement-times.ts'
import { type FairShare, type FairShareOptions, createFairShare } from '../throttle/fair-share.ts'

export type DatabaseOptions = PoolOptions & {
  /** Requests that may wait for a connection; 10,000 by default. */
  maxWaiting?: number
  /** A request was refused because too many wait. */
  onRefused?: () => void
  onStatement?: (sql: string) => void
  /** How long a statement took, with the wait for a connection. */
  onStatementTime?: OnStatementTime
  /** Something is tried again because a connection was lost. */
  onRetry?: OnRetry
}

const maxWaiting = 10_000
// Under five times the peak load, with the oldest first, every request waits for seconds. With 16 instead, more requests are
// refused between two of their statements.
const amongNewest = 48

export type Database = {
  /** Statements and transactions of requests. */
  db: Db
  /** Transactions that read as much as a report does, and write. */
  longDb: Db
  /** Runs a prepared statement. A small read always finds a connection, whatever large reads and changes wait for. */
  run: RunPrepared
  /** Runs a statement of background work on the connections of requests; traces do not show it. */
  runInBackground: Run
  /** Runs a statement that fetches or keeps jobs. */
  runForJobs: Run
  /** Opens one moment of the database for a report or an export. */
  openSnapshot: OpenSnapshot
  pools: Pools
  /** Requests that wait for a connection. */
  waiting: () => number
  clock: DatabaseClock
  /** Calls back after each statement of requests. */
  onStatementEnd(listener: StatementEnd): void
  /** Calls back whenever a connection reports a server that takes no writes. */
  onReadOnly(listener: () => void): void
  /** Closes every connection; the next statements open new ones. */
  renew(): void
  /** What paces attempts to connect. */
  gate: ConnectGate
  close(): Promise<void>
}

/** Opens the pools, which connect at the first statement. */
export function createDatabase(options: DatabaseOptions): Database {
  let noteReadOnly: (() => void) | null = null
  const renewals = createRenewals(() => noteReadOnly?.())
  const gate = createConnectGate(renewals.noteRefusal)
  const retry = createRetry(gate, options.onRetry)
  const pools = openPools(options, gate, renewals)
  const watch: Watch = { ...options, onEnd: null }
  const quiet: Watch = { onStatementTime: options.onStatementTime, onEnd: null }
  const { usualMs: readTimeoutMs, longMs } = readTimeoutsOf(options)
  const requests = { pool: pools.requests, retry, readTimeoutMs }
  const long = { pool: pools.long, retry, readTimeoutMs: longMs }
  // A project that waits for a lock of its own must not hold all connections.
  const share = shareOf(options, pools.requests.options.max, {
    maxWaiting: options.maxWaiting ?? maxWaiting,
    onRefused: options.onRefused,
    // Background work has no caller that could try again.
    preferred: service,
    amongNewest,
  })
  const longShare = shareOf(options, pools.long.options.max)
  const runInBackground = createRun({ ...requests, lane: 'requests', watch: quiet })
  const clock = createDatabaseClock(runInBackground)
  return {
    db: createDb({ ...requests, share }, logOf(watch, 'requests')),
    // Attestations wait for each other's lock: more than one of them would only hold connections.
    longDb: createDb({ ...long, share: shareOf(options, 1) }, logOf(watch, 'long')),
    run: preparedOn(
      { ...requests, pool: pools.lookups, watch },
      (capacity) => shareOf(options, capacity),
      createRun({ ...long, lane: 'long', watch, shares: [longShare] }),
    ),
    runInBackground,
    runForJobs: createRun({ ...requests, pool: pools.jobs, lane: 'jobs', watch: quiet }),
    // One connection is left to other long work.
    openSnapshot: createSnapshots({ ...long, max: Math.max(1, pools.long.options.max - 1) }),
    pools,
    waiting: () => share.waiting + pools.requests.waitingCount,
    clock,
    onStatementEnd: (listener) => {
      watch.onEnd = listener
    },
    onReadOnly: (listener) => {
      noteReadOnly = listener
    },
    renew: renewals.renew,
    gate,
    close: async () => {
      clock.close()
      renewals.close()
      for (const pool of Object.values(pools)) await pool.end()
    },
  }
}

const shareOf = (
  { acquireTimeoutMs }: DatabaseOptions,
  capacity: number,
  more: Partial<FairShareOptions> = {},
): FairShare =>
  createFairShare({
    capacity: Math.max(1, capacity),
    maxWaiting,
    maxWaitMs: acquireTimeoutMs,
    full: 'too many requests wait for the database; try again',
    ...more,
  })

/**
 * Large reads and changes leave one connection to small reads, so that authentication never waits behind them. Neither takes all
 * others: a call that cannot be logged is not forwarded, and a disk that does not answer must not stop reads. A quick change uses
 * what both leave.
 */
function preparedOn(
  options: Omit<RunOptions, 'lane'>,
  share: (capacity: number) => FairShare,
  runLong: Run,
): RunPrepared {
  const { max } = options.pool.options
  const other = share(max - 1)
  const runSmall = createRun({ ...options, lane: 'lookups' })
  const runShared = (...own: FairShare[]) =>
    createRun({ ...options, lane: 'shared', shares: [...own, other] })
  const runLarge = runShared(share(max - 2))
  const runChange = runShared(share(max - 2))
  const runQuick = runShared()
  return (statement, values) => {
    if (statement.size === 'long') return runLong(statement, values)
    if (statement.kind !== 'read')
      return (statement.size === 'quick' ? runQuick : runChange)(statement, values)
    return (statement.size === 'large' ? runLarge : runSmall)(statement, values)
  }
}

const logOf =
  (watch: Watch, lane: Lane) =>
  ({ query: { sql }, queryDurationMillis: durationMs }: LogEvent): void => {
    watch.onStatement?.(sql)
    watch.onStatementTime?.(lane, durationMs / 1_000)
    watch.onEnd?.({ sql, name: null, durationMs })
  }
