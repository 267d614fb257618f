// Access to PostgreSQL. Rows come back in camelCase; timestamps as RFC 3339 text with milliseconds, which is what both API and
// audit hashes use.
import { type ConnectGate, createConnectGate } from './connect-gate.ts'
import { createRenewals } from './connections.ts'
import { type DatabaseClock, createDatabaseClock } from './database-clock.ts'
import { type Db, createDb } from './handles.ts'
import { type PoolOptions, type Pools, openPools, readTimeoutsOf } from './pools.ts'
import { type Run, type RunPrepared, type StatementEnd, type Using, type Watch, runsOn } from './prepared.ts'
import { type OnRetry, createRetry } from './retry.ts'
import { type OpenSnapshot, createSnapshots } from './snapshots.ts'
import type { OnStatementTime } from './statement-times.ts'
import { type FairShare, createFairShare } from '../throttle/fair-share.ts'

export type DatabaseOptions = PoolOptions & {
  onStatement?: (sql: string) => void
  /** How long a statement took; that of prepared ones includes the wait for a connection. */
  onStatementTime?: OnStatementTime
  /** Something is tried again because a connection was lost. */
  onRetry?: OnRetry
}

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
  const { usualMs, longMs } = readTimeoutsOf(options)
  const using: Using = { watch, retry, readTimeoutMs: usualMs }
  const usingLong: Using = { ...using, readTimeoutMs: longMs }
  const quiet: Using = { ...using, watch: { onStatementTime: options.onStatementTime, onEnd: null } }
  // A project that waits for a lock of its own must not hold all connections.
  const requests = shareOf(options, pools.requests.options.max)
  // Snapshots and other long work each leave a connection to the other.
  const maxLong = Math.max(1, pools.long.options.max - 1)
  const long = shareOf(options, maxLong)
  const runInBackground = runsOn(pools.requests, 'requests', quiet)
  const clock = createDatabaseClock(runInBackground)
  return {
    db: dbOn(pools, 'requests', using, requests),
    longDb: dbOn(pools, 'long', usingLong, long),
    run: preparedOn(pools, options, using, runsOn(pools.long, 'long', usingLong, [long])),
    runInBackground,
    runForJobs: runsOn(pools.jobs, 'jobs', quiet),
    openSnapshot: createSnapshots(pools.long, { retry, readTimeoutMs: longMs, max: maxLong }),
    pools,
    waiting: () => requests.waiting + pools.requests.waitingCount,
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

const shareOf = ({ acquireTimeoutMs }: DatabaseOptions, capacity: number): FairShare =>
  createFairShare({
    capacity,
    maxWaiting: 10_000,
    maxWaitMs: acquireTimeoutMs,
    full: 'too many requests wait for the database; try again',
  })

/**
 * Large reads and changes leave one connection to small reads, so that authentication never waits behind them. Large reads leave
 * another one to changes, because a call that cannot be logged is not forwarded.
 */
function preparedOn({ lookups }: Pools, options: DatabaseOptions, using: Using, runLong: Run): RunPrepared {
  const all = lookups.options.max
  const other = shareOf(options, Math.max(1, all - 1))
  const large = shareOf(options, Math.max(1, all - 2))
  const runSmall = runsOn(lookups, 'lookups', using)
  const runChange = runsOn(lookups, 'shared', using, [other])
  const runLarge = runsOn(lookups, 'shared', using, [large, other])
  return (statement, values) => {
    if (statement.size === 'long') return runLong(statement, values)
    if (statement.kind !== 'read') return runChange(statement, values)
    return (statement.size === 'large' ? runLarge : runSmall)(statement, values)
  }
}

const dbOn = (pools: Pools, name: 'requests' | 'long', using: Using, share: FairShare): Db => {
  const { watch, retry, readTimeoutMs } = using
  return createDb(
    { pool: pools[name], retry, readTimeoutMs, share },
    ({ query: { sql }, queryDurationMillis: durationMs }) => {
      watch.onStatement?.(sql)
      watch.onStatementTime?.(name, durationMs / 1_000)
      watch.onEnd?.({ sql, name: null, durationMs })
    },
  )
}
