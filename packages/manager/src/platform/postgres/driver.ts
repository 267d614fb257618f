// The driver of Kysely. A lost connection is replaced if nothing has happened on it yet: before a transaction starts, and in a
// single statement that may run twice. Every other statement fails, and the error says whether the change may have been made.
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Pool, PoolClient, QueryConfig } from 'pg'
import { type TimeLimit, acquire, createTimeLimit } from './acquire.ts'
import { queryOn } from './connections.ts'
import { isRejected, isWorthAnother, noteOutcome, outcomeOf } from './outcomes.ts'
import { currentOwner } from './owner.ts'
import { type Retry, type RetryKind, type StatementKind, canRunTwice } from './retry.ts'
import type { FairShare, Lease } from '../throttle/fair-share.ts'

export type DriverOptions = {
  pool: Pool
  retry: Retry
  /** How long a statement may take, seen from here. */
  readTimeoutMs: number
  /** What statements outside a transaction are. */
  kind: StatementKind
  /** Shares the pool's connections between projects. */
  share: FairShare
}

/** PostgreSQL by this pool. */
export const createDialect = (options: DriverOptions): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PoolDriver(options),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

class PoolDriver implements Driver {
  readonly #options: DriverOptions
  constructor(options: DriverOptions) {
    this.#options = options
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    const { pool, readTimeoutMs, share } = this.#options
    const time = createTimeLimit(pool, readTimeoutMs)
    const lease = await share.take([currentOwner()])
    try {
      return new Session(this.#options, { client: await connect(this.#options, time), time, lease })
    } catch (error) {
      lease.release()
      throw error
    }
  }
  async beginTransaction(session: Session, settings: TransactionSettings): Promise<void> {
    await session.begin(settings)
  }
  async commitTransaction(session: Session): Promise<void> {
    await session.commit()
  }
  async rollbackTransaction(session: Session): Promise<void> {
    await session.rollback()
  }
  async releaseConnection(session: Session): Promise<void> {
    session.release()
    await Promise.resolve()
  }
  // Several handles share the pool; the database ends it.
  async destroy(): Promise<void> {}
}

/** A connection of the pool; nothing was sent when that fails, so it may be tried again. */
const connect = ({ pool, retry, readTimeoutMs }: DriverOptions, time: TimeLimit): Promise<PoolClient> =>
  retry(() => acquire(pool, time.waitMs()), { kind: 'connection', withinMs: readTimeoutMs })

type Acquired = { client: PoolClient; time: TimeLimit; lease: Lease }
type Phase = 'alone' | 'beginning' | 'inside' | 'committing'

class Session implements DatabaseConnection {
  readonly #options: DriverOptions
  /** Null while a lost connection is replaced. */
  #client: PoolClient | null
  /** Of the first statement; the wait for a connection counts. */
  #time: TimeLimit | null
  #phase: Phase = 'alone'
  readonly #lease: Lease
  #onlyReads = false
  /** The state of the connection is unknown, so it is not used again. */
  #isUnclear = false

  constructor(options: DriverOptions, { client, time, lease }: Acquired) {
    this.#options = options
    this.#client = client
    this.#time = time
    this.#lease = lease
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const query = { text: sql, values: [...parameters] }
    if (this.#phase === 'alone') return resultOf(await this.#runAlone(query))
    if (this.#phase === 'beginning')
      return resultOf(
        await this.#retry(query, { kind: 'transaction', isWorth: isWorthAnother, isLimited: true }),
      )
    try {
      return resultOf(await this.#run(query))
    } catch (error) {
      if (!this.#onlyReads) noteOutcome(error, this.#phase === 'inside' ? 'before commit' : 'committing')
      throw error
    }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    await Promise.reject(new Error('statements are not streamed here; see snapshots'))
  }

  // Through `executeQuery`, which Kysely measures.
  async begin({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    this.#phase = 'beginning'
    this.#onlyReads = accessMode === 'read only'
    const level = isolationLevel && `isolation level ${isolationLevel}`
    const text = ['begin', level, accessMode].filter((part) => part !== undefined).join(' ')
    await this.executeQuery(CompiledQuery.raw(text))
    this.#phase = 'inside'
  }

  async commit(): Promise<void> {
    this.#phase = 'committing'
    const { rows } = await this.executeQuery<{ command: string }>(CompiledQuery.raw('commit'))
    // How PostgreSQL ends a transaction in which a statement has failed.
    if (rows[0]?.command === 'ROLLBACK')
      throw new Error('the transaction is rolled back: a statement had failed')
  }

  /** Never fails: a connection that cannot roll back is closed, and then the server does. */
  async rollback(): Promise<void> {
    this.#phase = 'inside'
    if (!this.#isUnclear) await this.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined)
  }

  release(): void {
    this.#client?.release(this.#isUnclear)
    this.#client = null
    this.#lease.release()
  }

  async #runAlone(query: QueryConfig) {
    const { kind } = this.#options
    const isLimited = canRunTwice(kind)
    const isWorth = (error: unknown): boolean =>
      isWorthAnother(error) && (isLimited || outcomeOf(error, 'committing') === 'not applied')
    try {
      return await this.#retry(query, { kind: kind === 'read' ? 'read' : 'write', isWorth, isLimited })
    } catch (error) {
      if (kind !== 'read') noteOutcome(error, 'committing')
      throw error
    }
  }

  async #run(query: QueryConfig, shortMs: number | null = null) {
    if (this.#client === null) throw new Error('the connection was given back')
    const query_timeout = shortMs ?? this.#options.readTimeoutMs
    try {
      return await queryOn(this.#client, { ...query, query_timeout, isShort: shortMs !== null })
    } catch (error) {
      if (!isRejected(error)) this.#isUnclear = true
      throw error
    }
  }

  /** Tries again on another connection; all tries together take no longer than one may. */
  #retry(query: QueryConfig, { isLimited, ...retrying }: Retrying) {
    const { pool, retry, readTimeoutMs } = this.#options
    const time = this.#time ?? createTimeLimit(pool, readTimeoutMs)
    this.#time = null
    return retry(
      async ({ retries }) => {
        if (retries > 0) {
          // Released first: otherwise the statements that wait for a connection would hold all of them.
          this.#client?.release(true)
          this.#client = null
          this.#client = await acquire(pool, time.waitMs())
          this.#isUnclear = false
        }
        const isShort = isLimited && (retries > 0 || time.isShort())
        return this.#run(query, isShort ? time.statementMs() : null)
      },
      { withinMs: readTimeoutMs, ...retrying },
    )
  }
}

type Retrying = {
  kind: RetryKind
  isWorth: (error: unknown) => boolean
  /** Time that has passed counts. A write has its whole time: after a timeout its outcome is unknown. */
  isLimited: boolean
}

const counted = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

function resultOf<Row>(result: {
  command: string
  rowCount: number | null
  rows: unknown[]
}): QueryResult<Row> {
  const { command, rowCount, rows } = result
  if (command === 'COMMIT' || command === 'ROLLBACK') return { rows: [{ command } as Row] }
  return counted.has(command)
    ? { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as Row[] }
    : { rows: rows as Row[] }
}
