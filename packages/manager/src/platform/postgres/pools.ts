// The connection pools of a process: four of them here and one connection for readiness, 15 connections by default.
import { Pool, types as pgTypes } from 'pg'
import type { ConnectGate } from './connect-gate.ts'
import { type Renewals, connectionOf } from './connections.ts'
import type { Logger } from '../log/log.ts'

export type Pools = Record<'requests' | 'lookups' | 'long' | 'jobs', Pool>
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
  /** How long a transaction may wait for its next statement; 0 means no limit. */
  idleInTransactionTimeoutMs?: number
  /** How the server's own views name these connections; `manager` by default. */
  applicationName?: string
  log: Logger
}

// A process that is cut off, or stopped, in the midst of a transaction holds its locks for this long: writers of a project
// queue behind it.
const idleInTransactionMs = 5_000
/** A lease must not expire because requests have taken all connections. */
export const jobConnections = 2
/** Joining all access takes seconds; so may the first rows of an export, or notifications to 100,000 members. */
const leastLongTimeoutMs = 60_000

// Our statements touch few rows each; compiling one whose cost the planner overrates takes longer than running it.
const always = '-c jit=off'
// Prepared statements are lookups by key. They are planned once, as such, no matter how the tables look at that moment;
// planning them again each time would take longer than running them.
export const lookupSettings = [
  always,
  '-c plan_cache_mode=force_generic_plan',
  ...['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material'].map((way) => `-c enable_${way}=off`),
].join(' ')
// A client that has left needs no report: the server notices within a second, also in the middle of a long statement. How
// many rows a statement touches depends on its values, so each run is planned for them.
const longSettings = `${always} -c client_connection_check_interval=1000 -c plan_cache_mode=force_custom_plan`

const timestamptzOid = 1184
const otherParser = pgTypes.getTypeParser as (oid: number, format?: string) => (value: string) => unknown
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === timestamptzOid && format !== 'binary') return (value: string) => new Date(value).toISOString()
    return otherParser(oid, format)
  },
}

/** A server that hangs sends nothing: the client times out a little later than the server would. */
const readTimeoutOf = (statementTimeoutMs: number): number => statementTimeoutMs + 500

/** How long statements of requests and long statements may take, seen from here. */
export function readTimeoutsOf({ statementTimeoutMs }: PoolOptions) {
  const longTimeoutMs = Math.max(statementTimeoutMs, leastLongTimeoutMs)
  return { usualMs: readTimeoutOf(statementTimeoutMs), longMs: readTimeoutOf(longTimeoutMs) }
}

/** Opens connections lazily: the first query connects, and a lost connection is replaced by the next query. */
export function openPools(options: PoolOptions, { Patient }: ConnectGate, renewals: Renewals): Pools {
  const { poolSize, lookupPoolSize = 1, reportPoolSize = 2, statementTimeoutMs } = options
  const open = (max: number, settings: string, timeouts: object): Pool => {
    const pool = new Pool({ ...connectionOptions(options, settings), ...timeouts, Client: Patient, max })
    renewals.add(pool)
    // An idle connection that breaks must not end the process; the pool drops it.
    pool.on('error', (error, client) => {
      if (!connectionOf(client).isRetired) options.log.warn({ err: error }, 'idle database connection lost')
    })
    return pool
  }
  const usual = {
    statement_timeout: statementTimeoutMs,
    query_timeout: readTimeoutOf(statementTimeoutMs),
  }
  // Without a timeout of pg: snapshots watch their statements with one timer.
  const long = { statement_timeout: Math.max(statementTimeoutMs, leastLongTimeoutMs) }
  return {
    requests: open(poolSize, always, usual),
    lookups: open(lookupPoolSize, lookupSettings, usual),
    long: open(reportPoolSize, longSettings, long),
    jobs: open(jobConnections, lookupSettings, usual),
  }
}

const connectionOptions = (options: PoolOptions, settings: string) => ({
  connectionString: options.url,
  types,
  connectionTimeoutMillis: options.acquireTimeoutMs,
  idleTimeoutMillis: 30_000,
  idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? idleInTransactionMs,
  keepAlive: true,
  application_name: options.applicationName ?? 'manager',
  options: settings,
})
