// The connection pool and the typed query builder. Rows come back in camelCase; timestamps as RFC 3339 text with
// milliseconds, which is what both API and audit hashes use.
import { CamelCasePlugin, Kysely, type Transaction, PostgresDialect } from 'kysely'
import { Pool, types as pgTypes } from 'pg'
import { keepConnectionsHonest } from './connections.ts'
import type { DB } from '../../generated/db.ts'
import type { Logger } from '../log.ts'

export type Db = Kysely<DB>
export type Tx = Transaction<DB>

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
  statementTimeoutMs: number
  acquireTimeoutMs: number
  /** How long a transaction may wait for its next statement; 0 for ever. */
  idleInTransactionTimeoutMs?: number
  log: Logger
  onStatement?: (sql: string) => void
}

export type Database = {
  db: Db
  pool: Pool
  /** Runs a statement that every connection prepares once under its name: for the few that run at every request. */
  read: <Row extends object>(statement: PreparedStatement, values: unknown[]) => Promise<Row[]>
  close(): Promise<void>
}
/** Columns keep the names the statement gives them. */
export type PreparedStatement = { name: string; text: string }

/** Opens the pool lazily: the first query connects, and a lost connection is replaced by the next query. */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolSize,
    types,
    connectionTimeoutMillis: options.acquireTimeoutMs,
    idleTimeoutMillis: 30_000,
    statement_timeout: options.statementTimeoutMs,
    // A server that hangs answers nothing: the client gives up by itself a little later than the server would.
    query_timeout: options.statementTimeoutMs + 500,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 10_000,
    keepAlive: true,
    application_name: 'manager',
    // Our statements touch few rows each; compiling one whose cost the planner overrates takes longer than running it.
    options: '-c jit=off',
  })
  keepConnectionsHonest(pool)
  // An idle connection that breaks must not end the process; the pool drops it.
  pool.on('error', (error) => options.log.warn({ err: error }, 'idle database connection lost'))
  const db: Db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
    log: (event) => options.onStatement?.(event.query.sql),
  })
  return {
    db,
    pool,
    read: async <Row extends object>({ name, text }: PreparedStatement, values: unknown[]) => {
      options.onStatement?.(text)
      return (await pool.query<Row>({ name, text, values })).rows
    },
    close: () => db.destroy(),
  }
}
