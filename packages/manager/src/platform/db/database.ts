// The connection pool and the typed query builder. Rows come back in camelCase; timestamps as RFC 3339 text with
// milliseconds, which is what both API and audit hashes use.
import { Pool, types as pgTypes } from 'pg'
import { type ConnectGate, createConnectGate } from './connect-gate.ts'
import { createRenewals } from './connections.ts'
import { type DatabaseClock, createDatabaseClock } from './database-clock.ts'
import { type Db, createDb } from './handles.ts'
import {
  type Read,
  type StatementEnd,
  type Using,
  type Watch,
  type Write,
  readsOn,
  writesOn,
} from './prepared.ts'
import { type OnRetry, createRetry } from './retry.ts'
import { type OpenSnapshot, createSnapshots } from './snapshots.ts'
import type { OnStatementTime, PoolName } from './statement-times.ts'
import type { Logger } from '../log/log.ts'
import { type FairShare, createFairShare } from '../throttle/fair-share.ts'

const timestamptzOid = 1184
const otherParser = pgTypes.getTypeParser as (oid: number, format?: string) => (value: string) => unknown
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === timestamptzOid && format !== 'binary') return (value: string) => new Date(value).toISOString()
    return otherParser(oid, format)
  },
}

export type DatabaseOptions = {
  url: string
  poolSize: number
  /** Connections for lookups; 1 by default. */
  lookupPoolSize?: number
  /** Connections for contents; 1 by default. */
  contentPoolSize?: number
  /** Connections for each of the two ways of writing logs; 1 by default. */
  logPoolSize?: number
  /** Connections for each of the two ways of writing notifications; 1 by default. */
  notificationPoolSize?: number
  /** Connections for reports and exports, and so how many may run at once; 1 by default. */
  reportPoolSize?: number
  statementTimeoutMs: number
  acquireTimeoutMs: number
  /** How long a transaction may wait for its next statement; 0 means no limit. */
  idleInTransactionTimeoutMs?: number
  /** How the server's own views name these connections; `manager` by default. */
  applicationName?: string
  log: Logger
  onStatement?: (sql: string) => void
  /** How long a statement took; that of prepared ones includes the wait for a connection. */
  onStatementTime?: OnStatementTime
  /** Something is tried again because a connection was lost. */
  onRetry?: OnRetry
}

export type Database = {
  db: Db
  pool: Pool
  /** Requests that wait for one of its connections. */
  waiting: () => number
  clock: DatabaseClock
  /** Runs a lookup by key that its connection prepares once under its name: for the few that run at every request. */
  read: Read
  /** The same on separate connections, for rows that may be large: authentication does not wait behind them. */
  readContent: Read
  /** Runs a prepared statement that writes, on separate connections; returns how many rows it touched. */
  write: Write
  /** The same without waiting for the disk: a crash of the database may lose it, a crash of this process does not. */
  writeAsyncCommit: Write
  /** Runs a prepared statement that writes notifications, on separate connections; returns its rows. */
  writeNotifications: Read
  /** The same for very many recipients: it may take longer, and is planned by how the tables look at the moment. */
  writeToMembers: Read
  /** Opens one moment of the database for a report or an export. */
  openSnapshot: OpenSnapshot
  /** Transactions that read as much as a report does and write, on a connection of their own. */
  reportDb: Db
  /** Connections for fetching and keeping jobs: a lease must not expire because requests have taken all others. */
  jobPool: Pool
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

// A process that is cut off, or stopped, in the midst of a transaction holds its locks for this long: writers of a project
// queue behind it.
const idleInTransactionMs = 5_000

/** How many connections jobs have to themselves. */
export const jobConnections = 2

/** Writing to the members of a tenant of 100,000 takes one to three seconds, and more while others work too. */
const leastMembersTimeoutMs = 30_000
/** Sorting and joining all of the access there is takes seconds; so may the first rows of an export. */
const leastReportTimeoutMs = 60_000
/** How many connections what writes after such reading has. */
export const reportWriteConnections = 1

// Our statements touch few rows each; compiling one whose cost the planner overrates takes longer than running it.
const always = '-c jit=off'
// Whoever has left needs no report: the server notices within a second, also in the middle of a long statement.
const reportSettings = `${always} -c client_connection_check_interval=1000`
// Statements that run at every request are lookups by key. They are planned once, as such, no matter how the tables
// look at that moment; planning them again each time would take longer than running them.
export const lookupSettings = [
  always,
  '-c plan_cache_mode=force_generic_plan',
  ...['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material'].map((way) => `-c enable_${way}=off`),
].join(' ')

/**
 * Opens connections lazily: the first query connects, and a lost connection is replaced by the next query. Lookups have
 * separate connections, so that slow work elsewhere does not delay authentication.
 */
export function createDatabase(options: DatabaseOptions): Database {
  let noteReadOnly: (() => void) | null = null
  const renewals = createRenewals(() => noteReadOnly?.())
  const gate = createConnectGate(renewals.noteRefusal)
  const retry = createRetry(gate, options.onRetry)
  const watch: Watch = { ...options, onEnd: null }
  const openPool: OpenPool = (max, settings, timeouts) => {
    const pool = new Pool({
      ...connectionOptions(options, settings, timeouts),
      Client: gate.Patient,
      max,
    })
    renewals.add(pool)
    // An idle connection that breaks must not end the process; the pool drops it.
    pool.on('error', (error) => options.log.warn({ err: error }, 'idle database connection lost'))
    return pool
  }
  const pool = openPool(options.poolSize, always)
  const { jobPool, ...purposes } = openPools(openPool, options)
  const { lookups, contents, logs, asyncLogs, notifications, members, reports, reportWrites } = purposes
  const using: Using = { watch, retry, readTimeoutMs: readTimeoutOf(options.statementTimeoutMs) }
  const usingReports: Using = { ...using, readTimeoutMs: readTimeoutOf(reportTimeoutOf(options)) }
  const share = shareOf(options)
  const db = dbOn(pool, 'main', using, share)
  const clock = createDatabaseClock(pool)
  return {
    db,
    pool,
    waiting: () => share.waiting + pool.waitingCount,
    jobPool,
    clock,
    read: readsOn(lookups, 'lookup', using),
    readContent: readsOn(contents, 'content', using),
    write: writesOn(logs, 'log', using),
    writeAsyncCommit: writesOn(asyncLogs, 'log', using),
    writeNotifications: readsOn(notifications, 'notification', using),
    writeToMembers: readsOn(members, 'notification', using),
    openSnapshot: createSnapshots(reports, { retry, readTimeoutMs: usingReports.readTimeoutMs }),
    reportDb: dbOn(reportWrites, 'report', usingReports),
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
      for (const own of [pool, ...Object.values(purposes), jobPool]) await own.end()
    },
  }
}

/** `isWatched`: who uses these connections ends one that does not answer. */
type Timeouts = { statementTimeoutMs?: number; isWatched?: boolean }
type OpenPool = (max: number, settings: string, timeouts?: Timeouts) => Pool

/** A server that hangs sends nothing: the client times out a little later than the server would. */
const readTimeoutOf = (statementTimeoutMs: number): number => statementTimeoutMs + 500

const connectionOptions = (
  options: DatabaseOptions,
  settings: string,
  { statementTimeoutMs = options.statementTimeoutMs, isWatched = false }: Timeouts = {},
) => ({
  connectionString: options.url,
  types,
  connectionTimeoutMillis: options.acquireTimeoutMs,
  idleTimeoutMillis: 30_000,
  statement_timeout: statementTimeoutMs,
  ...(isWatched ? {} : { query_timeout: readTimeoutOf(statementTimeoutMs) }),
  idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? idleInTransactionMs,
  keepAlive: true,
  application_name: options.applicationName ?? 'manager',
  options: settings,
})

const reportTimeoutOf = ({ statementTimeoutMs }: DatabaseOptions): number =>
  Math.max(statementTimeoutMs, leastReportTimeoutMs)

/** The connections that serve one purpose each. */
function openPools(open: OpenPool, options: DatabaseOptions) {
  const { lookupPoolSize = 1, contentPoolSize = 1, logPoolSize = 1 } = options
  const { notificationPoolSize = 1, reportPoolSize = 1 } = options
  const reportTimeouts = { statementTimeoutMs: reportTimeoutOf(options) }
  const memberTimeouts = { statementTimeoutMs: Math.max(options.statementTimeoutMs, leastMembersTimeoutMs) }
  return {
    lookups: open(lookupPoolSize, lookupSettings),
    contents: open(contentPoolSize, lookupSettings),
    logs: open(logPoolSize, lookupSettings),
    asyncLogs: open(logPoolSize, `${lookupSettings} -c synchronous_commit=off`),
    notifications: open(notificationPoolSize, lookupSettings),
    members: open(notificationPoolSize, `${always} -c plan_cache_mode=force_custom_plan`, memberTimeouts),
    reports: open(reportPoolSize, reportSettings, { ...reportTimeouts, isWatched: true }),
    reportWrites: open(reportWriteConnections, reportSettings, reportTimeouts),
    jobPool: open(jobConnections, lookupSettings),
  }
}

/** A project that waits for a lock of its own must not hold all connections. */
const shareOf = ({ poolSize, acquireTimeoutMs }: DatabaseOptions): FairShare =>
  createFairShare({
    capacity: poolSize,
    maxWaiting: 10_000,
    maxWaitMs: acquireTimeoutMs,
    full: 'too many requests wait for the database; try again',
  })

const dbOn = (pool: Pool, name: PoolName, { watch, retry, readTimeoutMs }: Using, share?: FairShare): Db =>
  createDb({ pool, retry, readTimeoutMs, share }, ({ query: { sql }, queryDurationMillis: durationMs }) => {
    watch.onStatement?.(sql)
    watch.onStatementTime?.(name, durationMs / 1_000)
    watch.onEnd?.({ sql, name: null, durationMs })
  })
