import type { Schedule } from '../../platform/jobs/schedules.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import * as store from './invitations.store.ts'

const everyMs = 3_600_000
const batchSize = 1_000

/** Returns the schedule that deletes ended invitations in short statements, so that none holds locks for long. */
export const createRetentionSchedule = (db: Db, retentionDays: number): Schedule => ({
  name: 'invitation-retention',
  everyMs,
  atStart: true,
  run: async (signal) => {
    const canContinue = (deleted: number): boolean => deleted === batchSize && signal?.aborted !== true
    while (canContinue(await store.deleteEnded(db.write, retentionDays, batchSize)));
  },
})
