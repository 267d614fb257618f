// How long notifications stay: until they expire, until their months are dropped, or until the application is no longer
// the tenant's. All times are the database's.
import type { Db } from '../../platform/postgres/handles.ts'
import { createPartitionsSchedule } from '../../platform/postgres/partitions.ts'
import type { Schedule } from '../../platform/jobs/schedules.ts'
import type { Logger } from '../../platform/log/log.ts'
import { partitionedTables } from './emit-writer.service.ts'
import * as store from './retention.store.ts'

export type RetentionDeps = { db: Db; log: Logger }

const everyMs = 60_000

/** The schedules that make and drop months and delete what is out of date. */
export function createRetentionSchedules(deps: RetentionDeps, retentionDays: number): Schedule[] {
  const { db } = deps
  return [
    ...partitionedTables.map((table) =>
      createPartitionsSchedule(`${table.replaceAll('_', '-')}-months`, { table, retentionDays }, deps),
    ),
    {
      name: 'notifications-expiry',
      everyMs,
      run: (signal) => inParts(() => store.deleteExpired(db.write), signal),
    },
    {
      name: 'notification-keys-expiry',
      everyMs,
      run: (signal) => inParts(() => store.deleteExpiredKeys(db.write), signal),
    },
    { name: 'notifications-erasure', everyMs, run: (signal) => inParts(() => eraseNext(db), signal) },
  ]
}

/** Runs until there is no more to do, or the process ends. */
async function inParts(run: () => Promise<store.Part>, signal?: AbortSignal): Promise<void> {
  for (;;) if (signal?.aborted === true || (await run()).isLast) return
}

/** Does the next part of what is to be erased; the request itself goes with the last. */
async function eraseNext(db: Db): Promise<store.Part> {
  return db.transaction(async (tx) => {
    const erasure = await store.lockErasure(tx)
    if (erasure === undefined) return { isLast: true }
    const [rows, keys] = [await store.eraseRows(tx, erasure), await store.eraseKeys(tx, erasure)]
    if (rows.isLast && keys.isLast) await store.deleteErasure(tx, erasure.id)
    return { isLast: false }
  })
}
