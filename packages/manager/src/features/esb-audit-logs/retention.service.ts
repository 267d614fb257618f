import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Logger } from '../../platform/log.ts'
import * as store from './retention.store.ts'

export type RetentionDeps = { db: Db; clock: Clock; log: Logger; retentionDays: number }

const dayMs = 86_400_000

/** A job that makes the partitions of the log that calls are about to need, and drops those that are out of date. */
export function createRetention({ db, clock, log, retentionDays }: RetentionDeps): () => Promise<void> {
  return async () => {
    const made = await db.transaction().execute((tx) => store.preparePartitions(tx))
    if (made > 0) log.info({ partitions: made }, 'months of the ESB audit log made')
    const oldest = new Date(clock.now().getTime() - retentionDays * dayMs).toISOString()
    const dropped = await db.transaction().execute((tx) => store.dropPartitions(tx, oldest))
    if (dropped > 0) log.info({ partitions: dropped, oldest }, 'months of the ESB audit log dropped')
  }
}
