import type { Db } from '../../platform/db/database.ts'
import type { Logger } from '../../platform/log.ts'
import * as store from './retention.store.ts'

export type RetentionDeps = { db: Db; log: Logger; retentionDays: number }

/**
 * A job that makes the partitions of the log that calls are about to need, and drops those that are out of date. The
 * database tells the time for both: a process with a wrong clock erases nothing.
 */
export function createRetention({ db, log, retentionDays }: RetentionDeps): () => Promise<void> {
  return async () => {
    const made = await db.transaction().execute((tx) => store.preparePartitions(tx))
    if (made > 0) log.info({ partitions: made }, 'months of the ESB audit log made')
    const dropped = await db.transaction().execute((tx) => store.dropExpiredPartitions(tx, retentionDays))
    if (dropped > 0)
      log.info({ partitions: dropped, retention_days: retentionDays }, 'months of the ESB audit log dropped')
  }
}
