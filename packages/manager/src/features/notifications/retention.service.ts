// Notifications are deleted when they expire, when their monthly partition is dropped, or when the application is
// removed from the tenant. All times are from the database clock.
import type { Db } from '../../platform/postgres/handles.ts'
import { createPartitionsSchedule } from '../../platform/postgres/partitions.ts'
import type { Schedule } from '../../platform/jobs/schedules.ts'
import type { Logger } from '../../platform/log/log.ts'
import { partitionedTables } from './emit-writer.service.ts'
import * as store from './retention.store.ts'

export type RetentionDeps = { db: Db; log: Logger }

const everyMs = 60_000

/** Returns the schedules that create and drop monthly partitions and delete expired rows. */
export function createRetentionSchedules(deps: RetentionDeps, retentionDays: number): Schedule[] {
  const { db } = deps
  return [
    ...partitionedTables.map((table) =>
      createPartitionsSchedule(`${table.replaceAll('_', '-')}-months`, { table, retentionDays }, deps),
    ),
    {
      name: 'notifications-expiry',
      everyMs,
      run: (signal) => runInBatches(() => store.deleteExpired(db.write), signal),
    },
    {
      name: 'notification-keys-expiry',
      everyMs,
      run: (signal) => runInBatches(() => store.deleteExpiredKeys(db.write), signal),
    },
    { name: 'notifications-erasure', everyMs, run: (signal) => runInBatches(() => eraseNext(db), signal) },
  ]
}

/** Runs batches until no rows are left or the process stops. */
export async function runInBatches(
  run: () => Promise<store.BatchResult>,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) if (signal?.aborted === true || (await run()).isLast) return
}

/** Erases the next batch for an erasure request. The last batch also deletes the request. */
async function eraseNext(db: Db): Promise<store.BatchResult> {
  return db.transaction(async (tx) => {
    const erasure = await store.lockErasure(tx)
    if (erasure === undefined) return { isLast: true }
    const [rows, keys] = [await store.eraseRows(tx, erasure), await store.eraseKeys(tx, erasure)]
    if (rows.isLast && keys.isLast) await store.deleteErasure(tx, erasure.id)
    return { isLast: false }
  })
}
