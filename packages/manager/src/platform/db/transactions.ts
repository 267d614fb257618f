// Transactions that may run again: when their connection was lost before COMMIT was sent, or another transaction won, nothing
// was kept, and they begin anew. Once COMMIT was sent and not answered, nobody knows, and they do not.
import type { Db, Tx } from './database.ts'
import { isLostRace, isUnsure, isWorthAnother } from './outcomes.ts'
import type { Retry } from './retry.ts'

const retries = new WeakMap<Db, Retry>()
// What has waited for long has kept its caller waiting long enough.
const withinMs = 1_000

/** Lets transactions of this database run again. */
export function letTransactionsRepeat(db: Db, retry: Retry): void {
  retries.set(db, retry)
}

const isWorth = (error: unknown): boolean => !isUnsure(error) && (isWorthAnother(error) || isLostRace(error))

/**
 * Runs a transaction, at most three times. The work does nothing but read and write by `tx`: what it does otherwise would be
 * done again.
 */
export function transact<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const attempt = (): Promise<T> => db.transaction().execute(work)
  return retries.get(db)?.(attempt, { kind: 'transaction', withinMs, isWorth }) ?? attempt()
}

/** Runs a statement of which a second run changes nothing more; again after a lost connection, whatever became of it. */
export const repeatable = <T>(db: Db, run: () => Promise<T>): Promise<T> =>
  retries.get(db)?.(run, { kind: 'write', withinMs, isWorth: isWorthAnother }) ?? run()
