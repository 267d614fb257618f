// Handles that run queries. The caller declares the kind of a statement: after a lost connection, only the caller knows
// whether it may run again.
import { CamelCasePlugin, Kysely, type LogEvent, type RawBuilder, type Transaction, sql } from 'kysely'
import { type DriverOptions, createDialect } from './driver.ts'
import { isConflict, isOutcomeUnknown, isRetryable } from './outcomes.ts'
import { type NameStatement, createStatementNames } from './statement-names.ts'
import type { StatementKind } from './statements.ts'
import type { DB } from '../../generated/db.ts'

/** Runs the statements of one transaction. */
export type Tx = Transaction<DB>
/** Runs read-only statements. */
export type Reads = Pick<Kysely<DB>, 'selectFrom' | 'selectNoFrom' | 'executeQuery' | 'getExecutor'> & {
  /** The same handle, with connections that prepare each statement once. */
  readonly prepared?: Reads
}
/** Runs any statement: a transaction, or one of the handles for changes. */
export type Queries = Reads & Pick<Kysely<DB>, 'insertInto' | 'updateTable' | 'deleteFrom' | 'mergeInto'>

type TransactionOptions = {
  /** The work has effects outside of `tx`, so it must not run again. */
  mustNotRetry?: true
  /** All statements read the same snapshot, and none writes. */
  isSnapshot?: true
}

/** The handles of one pool, by the kind of statement. */
export type Db = {
  /** Statements that only read; retried after a lost connection. */
  read: Reads
  /** Changes outside a transaction; retried only if nothing was sent. */
  write: Queries
  /** Changes that are safe to repeat; retried like reads. */
  idempotent: Queries
  /**
   * Runs a transaction, at most three times. If its connection is lost before COMMIT is sent, or it conflicts with
   * another transaction, it is rolled back and the work runs again. If COMMIT gets no response, the outcome is unknown
   * and the transaction fails.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
}

// A caller that has waited longer gets the error instead of another attempt.
const retryTransactionsForMs = 1_000

const canRetryTransaction = (error: unknown): boolean =>
  !isOutcomeUnknown(error) && (isRetryable(error) || isConflict(error))

/**
 * Returns a handle whose connections prepare each statement once. Use it for lookups by key and for lists without
 * filters, whose best plan does not depend on the values. After five runs, PostgreSQL may keep one plan for all
 * values; for a filter on a skewed column, that plan can be much slower than one for the actual value. Handles without
 * such connections, for example transactions, are returned unchanged.
 */
export const withPreparedStatements = (db: Reads): Reads => db.prepared ?? db

/** Creates the handles of one pool. */
export function createDb(
  options: Omit<DriverOptions, 'kind' | 'nameStatement'>,
  log: (event: LogEvent) => void,
): Db {
  const plugins = [new CamelCasePlugin({ maintainNestedObjectKeys: true })]
  const createHandle = (kind: StatementKind, nameStatement?: NameStatement): Kysely<DB> =>
    new Kysely<DB>({ dialect: createDialect({ ...options, kind, nameStatement }), plugins, log })
  const read = Object.assign(createHandle('read'), {
    prepared: createHandle('read', createStatementNames()),
  })
  const write = createHandle('write')
  const startSnapshot = () =>
    write.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
  return {
    read,
    write,
    idempotent: createHandle('idempotent'),
    transaction: (work, { mustNotRetry = false, isSnapshot = false } = {}) => {
      const attempt = () => (isSnapshot ? startSnapshot() : write.transaction()).execute(work)
      if (mustNotRetry) return attempt()
      return options.retry(attempt, {
        kind: 'transaction',
        withinMs: retryTransactionsForMs,
        canRetry: canRetryTransaction,
      })
    },
  }
}

/**
 * Returns SQL that matches any of these ids, passed in one parameter. With `in`, each id is a separate parameter, so
 * every list length would be a different statement.
 */
export const anyOf = (ids: readonly string[]): RawBuilder<string> => sql<string>`any(${ids}::uuid[])`
