// Updates the daily counts with the changes that emits and marks insert. The statement that counts a change deletes it.
import type { Schedule } from '../../platform/jobs/schedules.ts'
import { addChanges, deleteOldCounts } from './notification-counts.store.ts'
import { type RetentionDeps, runInBatches } from './retention.service.ts'

const everyMs = 60_000

/** Returns the schedules that add up the changes and delete old counts. */
export const createCountsSchedules = ({ db }: RetentionDeps, retentionDays: number): Schedule[] => [
  {
    name: 'notification-counts',
    everyMs,
    run: (signal) => runInBatches(() => addChanges(db.write), signal),
  },
  {
    name: 'notification-counts-retention',
    everyMs,
    run: (signal) => runInBatches(() => deleteOldCounts(db.write, retentionDays), signal),
  },
]
