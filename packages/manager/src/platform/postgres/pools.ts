// The connection pools of a process: four pools here and one connection for readiness, 15 connections by default.
import { Pool, types as pgTypes } from 'pg'
import type { ConnectGate } from './connect-gate.ts'
import { type Renewals, toConnection } from './connections.ts'
import type { Logger } from '../log/log.ts'

/** The pools by kind of work. */
export type Pools = Record<'requests' | 'lookups' | 'long' | 'jobs', Pool>
/** Address, sizes and timeouts of the pools. */
export type PoolOptions = {
  url: string
  /** Connections for requests and their transactions. */
  poolSize: number
  /** Connections for prepared statements; 1 by default. */
  lookupPoolSize?: number
  /** Connections for reports, exports and other long work; 2 by default. */
  reportPoolSize?: number
  statementTimeoutMs: number
  acquireTimeoutMs: number
  /** Limit for the idle time between two statements of a transaction; 0 means no limit. */
  idleInTransactionTimeoutMs?: number
  /** Name of these connections in server views such as pg_stat_activity; `manager` by default. */
  applicationName?: string
  log: Logger
}

// A process that is disconnected or paused during a transaction holds its locks for this long, and writers in the same
// project wait for it.
const idleInTransactionMs = 5_000
/** Reserved connections, so that leases do not expire while requests occupy all other connections. */
export const jobConnections = 2
/**
 * Joining all access data can take seconds, and so can reading the first rows of an export or sending a notification to
 * 100,000 members.
 */
const minLongTimeoutMs = 60_000

// Each statement touches few rows. If the planner overestimates the cost, JIT compilation takes longer than execution.
const commonSettings = '-c jit=off'
// Prepared statements are lookups by key. They are planned once as index lookups, regardless of the table statistics at
// that time. Planning every run would take longer than running the statement.
export const lookupSettings = [
  commonSettings,
  '-c plan_cache_mode=force_generic_plan',
  ...['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material'].map(
    (planNode) => `-c enable_${planNode}=off`,
  ),
].join(' ')
// After a client disconnects, its report is no longer needed: the server detects this within 1 s, even during a long
// statement. The number of rows that a statement touches depends on its parameters, so each run is planned for them.
const longSettings = `${commonSettings} -c client_connection_check_interval=1000 -c plan_cache_mode=force_custom_plan`

const timestamptzOid = 1184
const getDefaultParser = pgTypes.getTypeParser as (oid: number, format?: string) => (value: string) => unknown
const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === timestamptzOid && format !== 'binary') return formatTimestamp
    return getDefaultParser(oid, format)
  },
}

// `Date` formats only texts that are not in UTC, or whose year does not have four digits. If it formatted all texts,
// it would take a tenth of the CPU time of a list of 20 rows.
const utcPattern = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/

/** Returns a PostgreSQL timestamp as RFC 3339 text with milliseconds. */
export function formatTimestamp(value: string): string {
  const [, date, time, fraction = ''] = utcPattern.exec(value) ?? []
  if (date === undefined) return new Date(value).toISOString()
  return `${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}Z`
}

/** A server that hangs reports no timeout, so the client times out slightly later than the server would. */
const getReadTimeout = (statementTimeoutMs: number): number => statementTimeoutMs + 500

/** Returns the client-side timeouts for statements of requests and for long statements. */
export function getReadTimeouts({ statementTimeoutMs }: PoolOptions) {
  const longTimeoutMs = Math.max(statementTimeoutMs, minLongTimeoutMs)
  return { usualMs: getReadTimeout(statementTimeoutMs), longMs: getReadTimeout(longTimeoutMs) }
}

/** Opens connections lazily: the first query connects, and a lost connection is replaced by the next query. */
export function openPools(options: PoolOptions, { GatedClient }: ConnectGate, renewals: Renewals): Pools {
  const { poolSize, lookupPoolSize = 1, reportPoolSize = 2, statementTimeoutMs } = options
  const openPool = (max: number, settings: string, timeouts: object): Pool => {
    const pool = new Pool({
      ...createConnectionOptions(options, settings),
      ...timeouts,
      Client: GatedClient,
      max,
    })
    renewals.add(pool)
    // An idle connection that breaks must not crash the process; the pool removes it.
    pool.on('error', (error, client) => {
      if (!toConnection(client).isRetired) options.log.warn({ err: error }, 'idle database connection lost')
    })
    return pool
  }
  const requestTimeouts = {
    statement_timeout: statementTimeoutMs,
    query_timeout: getReadTimeout(statementTimeoutMs),
  }
  // pg sets no query timeout here: snapshots watch their statements with one timer.
  const longTimeouts = { statement_timeout: Math.max(statementTimeoutMs, minLongTimeoutMs) }
  return {
    requests: openPool(poolSize, commonSettings, requestTimeouts),
    lookups: openPool(lookupPoolSize, lookupSettings, requestTimeouts),
    long: openPool(reportPoolSize, longSettings, longTimeouts),
    jobs: openPool(jobConnections, lookupSettings, requestTimeouts),
  }
}

const createConnectionOptions = (options: PoolOptions, settings: string) => ({
  connectionString: options.url,
  types: typeParsers,
  connectionTimeoutMillis: options.acquireTimeoutMs,
  idleTimeoutMillis: 30_000,
  idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? idleInTransactionMs,
  keepAlive: true,
  application_name: options.applicationName ?? 'manager',
  options: settings,
})
