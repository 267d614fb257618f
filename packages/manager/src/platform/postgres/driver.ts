// The driver of Kysely. A statement outside a transaction takes a connection for itself. A transaction keeps one from BEGIN to its
// end; a lost connection is replaced before BEGIN has succeeded, and after that the error says whether the change may have been made.
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
import type { PoolClient, QueryResult as PgResult } from 'pg'
import { type TimeLimit, acquire, createTimeLimit } from './acquire.ts'
import { queryOn } from './connections.ts'
import { isRejected, noteOutcome } from './outcomes.ts'
import { currentOwner } from './owner.ts'
import { type StatementKind, type StatementOptions, runStatement } from './statements.ts'
import type { FairShare, Lease } from '../throttle/fair-share.ts'

export type DriverOptions = StatementOptions & {
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
    // The wait for a turn counts.
    const time = createTimeLimit(this.#options.pool, this.#options.readTimeoutMs)
    return new Session(this.#options, time, await this.#options.share.take([currentOwner()]))
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

class Session implements DatabaseConnection {
  readonly #options: DriverOptions
  readonly #time: TimeLimit
  readonly #lease: Lease
  #phase: 'alone' | 'beginning' | 'inside' | 'committing' = 'alone'
  /** That of the transaction. */
  #client: PoolClient | null = null
  #onlyReads = false
  /** The state of the connection is unknown, so it is not used again. */
  #isUnclear = false

  constructor(options: DriverOptions, time: TimeLimit, lease: Lease) {
    this.#options = options
    this.#time = time
    this.#lease = lease
  }

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const values = [...parameters]
    if (this.#phase === 'beginning') return resultOf(await this.#open(text))
    if (this.#phase !== 'alone') return resultOf(await this.#run(text, values))
    const { kind } = this.#options
    return resultOf(await runStatement(this.#options, { kind, text }, values, this.#time))
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

  /** Starts the transaction on the first connection that works. */
  #open(text: string): Promise<PgResult> {
    const { pool, retry, readTimeoutMs } = this.#options
    const attempt = async (): Promise<PgResult> => {
      const client = await acquire(pool, this.#time.waitMs())
      try {
        const result = await queryOn(client, { text, ...this.#time.limits(true) })
        this.#client = client
        return result
      } catch (error) {
        client.release(true)
        throw error
      }
    }
    return retry(attempt, { kind: 'transaction', withinMs: readTimeoutMs })
  }

  async #run(text: string, values: unknown[]): Promise<PgResult> {
    if (this.#client === null) throw new Error('the connection was given back')
    const query_timeout = this.#options.readTimeoutMs
    try {
      return await queryOn(this.#client, { text, values, query_timeout, isShort: false })
    } catch (error) {
      if (!isRejected(error)) this.#isUnclear = true
      if (!this.#onlyReads) noteOutcome(error, this.#phase === 'inside' ? 'before commit' : 'committing')
      throw error
    }
  }
}

const counted = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

function resultOf<Row>({ command, rowCount, rows }: PgResult): QueryResult<Row> {
  if (command === 'COMMIT' || command === 'ROLLBACK') return { rows: [{ command } as Row] }
  return counted.has(command)
    ? { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as Row[] }
    : { rows: rows as Row[] }
}
