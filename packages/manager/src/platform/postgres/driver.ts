// The Kysely driver. A statement outside a transaction uses a separate connection. A transaction keeps one connection
// from BEGIN to its end. Until BEGIN succeeds, a lost connection is replaced. After that, the error records whether the
// change may have been applied.
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
import { isRejected, markOutcome } from './outcomes.ts'
import { getCurrentOwner } from './owner.ts'
import type { NameStatement } from './statement-names.ts'
import { type StatementKind, type StatementOptions, runStatement } from './statements.ts'
import type { FairShare, Lease } from '../throttle/fair-share.ts'

/** Driver options of one Kysely handle. */
export type DriverOptions = StatementOptions & {
  /** Kind of statement that runs outside a transaction. */
  kind: StatementKind
  /** Divides the connections of the pool between projects. */
  share: FairShare
  /** Names the statements outside a transaction, so that connections prepare them. */
  nameStatement?: NameStatement
}

/** Returns a Kysely dialect that runs on this pool. */
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
    // The time limit includes the wait for a connection.
    const timeLimit = createTimeLimit(this.#options.pool, this.#options.readTimeoutMs)
    return new Session(this.#options, timeLimit, await this.#options.share.take([getCurrentOwner()]))
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
  // Several handles share the pool, so only the database closes it.
  async destroy(): Promise<void> {}
}

class Session implements DatabaseConnection {
  readonly #options: DriverOptions
  readonly #time: TimeLimit
  readonly #lease: Lease
  #phase: 'idle' | 'starting' | 'active' | 'committing' = 'idle'
  /** The connection of the transaction. */
  #client: PoolClient | null = null
  #isReadOnly = false
  /** True if the state of the connection is unknown. Such a connection is not used again. */
  #isStateUnknown = false

  constructor(options: DriverOptions, timeLimit: TimeLimit, lease: Lease) {
    this.#options = options
    this.#time = timeLimit
    this.#lease = lease
  }

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const values = [...parameters]
    if (this.#phase === 'starting') return toQueryResult(await this.#open(text))
    if (this.#phase !== 'idle') return toQueryResult(await this.#run(text, values))
    const { kind, nameStatement } = this.#options
    const statement = { kind, text, name: nameStatement?.(text) }
    return toQueryResult(await runStatement(this.#options, statement, values, this.#time))
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    await Promise.reject(new Error('streaming is not supported; use a snapshot'))
  }

  // BEGIN runs through `executeQuery`, because Kysely measures statements there.
  async begin({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    this.#phase = 'starting'
    this.#isReadOnly = accessMode === 'read only'
    const level = isolationLevel && `isolation level ${isolationLevel}`
    const text = ['begin', level, accessMode].filter((part) => part !== undefined).join(' ')
    await this.executeQuery(CompiledQuery.raw(text))
    this.#phase = 'active'
  }

  async commit(): Promise<void> {
    this.#phase = 'committing'
    const { rows } = await this.executeQuery<{ command: string }>(CompiledQuery.raw('commit'))
    // PostgreSQL responds to COMMIT with ROLLBACK if a statement of the transaction has failed.
    if (rows[0]?.command === 'ROLLBACK')
      throw new Error('the transaction was rolled back because a statement failed')
  }

  /** Never fails: a connection that cannot roll back is closed, and then the server rolls back. */
  async rollback(): Promise<void> {
    this.#phase = 'active'
    if (!this.#isStateUnknown) await this.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined)
  }

  release(): void {
    this.#client?.release(this.#isStateUnknown)
    this.#client = null
    this.#lease.release()
  }

  /** Starts the transaction on the first connection that works. */
  #open(text: string): Promise<PgResult> {
    const { pool, retry, readTimeoutMs } = this.#options
    const attempt = async (): Promise<PgResult> => {
      const client = await acquire(pool, this.#time.getWaitMs())
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
    if (this.#client === null) throw new Error('the connection was already released')
    const query_timeout = this.#options.readTimeoutMs
    try {
      return await queryOn(this.#client, { text, values, query_timeout, isShort: false })
    } catch (error) {
      if (!isRejected(error)) this.#isStateUnknown = true
      if (!this.#isReadOnly) markOutcome(error, this.#phase === 'active' ? 'before commit' : 'committing')
      throw error
    }
  }
}

const commandsWithRowCount = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

function toQueryResult<Row>({ command, rowCount, rows }: PgResult): QueryResult<Row> {
  if (command === 'COMMIT' || command === 'ROLLBACK') return { rows: [{ command } as Row] }
  return commandsWithRowCount.has(command)
    ? { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as Row[] }
    : { rows: rows as Row[] }
}
