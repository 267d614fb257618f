// The handles that run queries. The caller declares what a statement is: after a lost connection only the caller knows
// whether it may run again.
import { CamelCasePlugin, Kysely, type LogEvent, type Transaction } from 'kysely'
import { type DriverOptions, createDialect } from './driver.ts'
import { isLostRace, isUnsure, isWorthAnother } from './outcomes.ts'
import type { StatementKind } from './statements.ts'
import type { DB } from '../../generated/db.ts'

export type Tx = Transaction<DB>
/** Runs statements that only read. */
export type Reads = Pick<Kysely<DB>, 'selectFrom' | 'selectNoFrom' | 'executeQuery' | 'getExecutor'>
/** Runs any statement: a transaction, or one of the handles for changes. */
export type Queries = Reads & Pick<Kysely<DB>, 'insertInto' | 'updateTable' | 'deleteFrom' | 'mergeInto'>

type TransactionOptions = {
  /** The work does more than read and write by `tx`, so a second run would do that again. */
  runsOnce?: true
  /** All statements read the same moment, and none writes. */
  isSnapshot?: true
}

export type Db = {
  /** Statements that only read; repeated after a lost connection. */
  read: Reads
  /** Changes outside a transaction; repeated only if nothing was sent. */
  write: Queries
  /** Changes of which a second run changes nothing more; repeated like reads. */
  idempotent: Queries
  /**
   * Runs a transaction, at most three times: if its connection is lost before COMMIT is sent, or another transaction wins,
   * nothing is kept and the work starts again. After COMMIT was sent without an answer, the outcome is unknown and the
   * transaction fails.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
}

// A caller that has waited longer gets the error instead of another attempt.
const retryTransactionsForMs = 1_000

const canRunAgain = (error: unknown): boolean =>
  !isUnsure(error) && (isWorthAnother(error) || isLostRace(error))

/** The handles of one pool. */
export function createDb(options: Omit<DriverOptions, 'kind'>, log: (event: LogEvent) => void): Db {
  const plugins = [new CamelCasePlugin({ maintainNestedObjectKeys: true })]
  const handle = (kind: StatementKind): Kysely<DB> =>
    new Kysely<DB>({ dialect: createDialect({ ...options, kind }), plugins, log })
  const write = handle('write')
  const snapshot = () => write.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
  return {
    read: handle('read'),
    write,
    idempotent: handle('idempotent'),
    transaction: (work, { runsOnce = false, isSnapshot = false } = {}) => {
      const attempt = () => (isSnapshot ? snapshot() : write.transaction()).execute(work)
      if (runsOnce) return attempt()
      return options.retry(attempt, {
        kind: 'transaction',
        withinMs: retryTransactionsForMs,
        isWorth: canRunAgain,
      })
    },
  }
}
