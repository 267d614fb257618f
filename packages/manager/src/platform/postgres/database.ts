// Access to PostgreSQL. Rows are returned in camelCase. Timestamps are RFC 3339 text with milliseconds, the format of
// the API and of audit hashes.
import type { LogEvent } from 'kysely'
import { type ConnectGate, createConnectGate } from './connect-gate.ts'
import { createRenewals } from './connections.ts'
import { type DatabaseClock, createDatabaseClock } from './database-clock.ts'
import { type Db, createDb } from './handles.ts'
import { type PoolOptions, type Pools, openPools, getReadTimeouts } from './pools.ts'
import {
  type Run,
  type RunOptions,
  type RunPrepared,
  type StatementEnd,
  type StatementObservers,
  createRun,
} from './prepared.ts'
import { type OnRetry, createRetry } from './retry.ts'
import { type OpenSnapshot, createSnapshots } from './snapshots.ts'
import { serviceOwner } from './owner.ts'
import type { PoolName, OnStatementTime } from './statement-times.ts'
import { type FairShare, type FairShareOptions, createFairShare } from '../throttle/fair-share.ts'

/** Settings of the pools, and callbacks for metrics. */
export type DatabaseOptions = PoolOptions & {
  /** Maximum number of requests that wait for a connection; 10,000 by default. */
  maxWaiting?: number
  /** Called if a request is refused because too many are waiting. */
  onRefused?: () => void
  onStatement?: (sql: string) => void
  /** Receives the duration of a statement, including the wait for a connection. */
  onStatementTime?: OnStatementTime
  /** Called for each retry after a lost connection. */
  onRetry?: OnRetry
}

const maxWaiting = 10_000
// Among the newest 48 waiting requests, the oldest is served first. If the oldest of all were served first, every
// request would wait for seconds at five times the peak load. With 16 instead of 48, more requests would be refused
// between two of their statements.
const newestWindow = 48

/** The pools of a process and the handles that run statements on them. */
export type Database = {
  /** Statements and transactions of requests. */
  db: Db
  /** Transactions that write and also read as much data as a report. */
  longDb: Db
  /**
   * Runs a prepared statement. One connection always remains for small reads, even if many large reads and changes are
   * waiting.
   */
  run: RunPrepared
  /** Runs a statement of background work on the connections of requests; it does not appear in traces. */
  runInBackground: Run
  /** Runs a statement of the job queues on their reserved connections. */
  runForJobs: Run
  /** Opens a consistent snapshot of the database for a report or an export. */
  openSnapshot: OpenSnapshot
  pools: Pools
  /** Number of requests that wait for a connection. */
  waiting: () => number
  clock: DatabaseClock
  /** Calls the listener after each statement of a request. */
  onStatementEnd(listener: StatementEnd): void
  /** Calls the listener whenever a connection reports that the server rejects writes. */
  onReadOnly(listener: () => void): void
  /** Closes every connection; the next statements open new ones. */
  renew(): void
  /** Limits the rate of connection attempts. */
  gate: ConnectGate
  close(): Promise<void>
}

/** Opens the pools, which connect at the first statement. */
export function createDatabase(options: DatabaseOptions): Database {
  let readOnlyListener: (() => void) | null = null
  const renewals = createRenewals(() => readOnlyListener?.())
  const gate = createConnectGate(renewals.recordRefusal)
  const retry = createRetry(gate, options.onRetry)
  const pools = openPools(options, gate, renewals)
  const watch: StatementObservers = { ...options, onEnd: null }
  const backgroundWatch: StatementObservers = { onStatementTime: options.onStatementTime, onEnd: null }
  const { usualMs: readTimeoutMs, longMs } = getReadTimeouts(options)
  const requestOptions = { pool: pools.requests, retry, readTimeoutMs }
  const longOptions = { pool: pools.long, retry, readTimeoutMs: longMs }
  // Requests of one project that wait for a lock must not occupy all connections.
  const share = createConnectionShare(options, pools.requests.options.max, {
    maxWaiting: options.maxWaiting ?? maxWaiting,
    onRefused: options.onRefused,
    // Background work has no caller that could retry.
    preferredOwner: serviceOwner,
    newestWindow,
  })
  // Notifications are statements without an owner. One connection remains for other long work.
  const longShare = createConnectionShare(options, Math.max(1, pools.long.options.max - 1))
  const runInBackground = createRun({ ...requestOptions, lane: 'requests', watch: backgroundWatch })
  const clock = createDatabaseClock(runInBackground)
  return {
    db: createDb({ ...requestOptions, share }, createLogListener(watch, 'requests')),
    // Attestations wait for each other's lock, so several of them would only occupy connections.
    longDb: createDb(
      { ...longOptions, share: createConnectionShare(options, 1) },
      createLogListener(watch, 'long'),
    ),
    run: createPreparedRunner(
      { ...requestOptions, pool: pools.lookups, watch },
      (capacity) => createConnectionShare(options, capacity),
      createRun({ ...longOptions, lane: 'long', watch, shares: [longShare] }),
    ),
    runInBackground,
    runForJobs: createRun({ ...requestOptions, pool: pools.jobs, lane: 'jobs', watch: backgroundWatch }),
    // One connection remains for other long work.
    openSnapshot: createSnapshots({ ...longOptions, max: Math.max(1, pools.long.options.max - 1) }),
    pools,
    waiting: () => share.waitingCount + pools.requests.waitingCount,
    clock,
    onStatementEnd: (listener) => {
      watch.onEnd = listener
    },
    onReadOnly: (listener) => {
      readOnlyListener = listener
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

const createConnectionShare = (
  { acquireTimeoutMs }: DatabaseOptions,
  capacity: number,
  overrides: Partial<FairShareOptions> = {},
): FairShare =>
  createFairShare({
    capacity: Math.max(1, capacity),
    maxWaiting,
    maxWaitMs: acquireTimeoutMs,
    overloadMessage: 'too many requests are waiting for the database; try again',
    ...overrides,
  })

/**
 * Large reads and changes leave one connection for small reads, so that authentication never waits behind them.
 * Neither large reads nor changes may occupy all other connections: forwarded calls must be logged, and a hanging disk
 * must not stop reads. Quick changes use the connections that remain.
 */
function createPreparedRunner(
  options: Omit<RunOptions, 'lane'>,
  createShareOf: (capacity: number) => FairShare,
  runLong: Run,
): RunPrepared {
  const { max } = options.pool.options
  const commonShare = createShareOf(max - 1)
  const runSmall = createRun({ ...options, lane: 'lookups' })
  const createSharedRun = (...extraShares: FairShare[]) =>
    createRun({ ...options, lane: 'shared', shares: [...extraShares, commonShare] })
  const runLarge = createSharedRun(createShareOf(max - 2))
  const runChange = createSharedRun(createShareOf(max - 2))
  const runQuick = createSharedRun()
  return (statement, values) => {
    if (statement.size === 'long') return runLong(statement, values)
    if (statement.kind !== 'read')
      return (statement.size === 'quick' ? runQuick : runChange)(statement, values)
    return (statement.size === 'large' ? runLarge : runSmall)(statement, values)
  }
}

const createLogListener =
  (watch: StatementObservers, lane: PoolName) =>
  ({ query: { sql }, queryDurationMillis: durationMs }: LogEvent): void => {
    watch.onStatement?.(sql)
    watch.onStatementTime?.(lane, durationMs / 1_000)
    watch.onEnd?.({ sql, name: null, durationMs })
  }
