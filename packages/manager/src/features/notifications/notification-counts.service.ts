// Reads the daily counts of notifications, recipients and marks.
import { readDayRange } from '../../platform/inputs/day-range.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import * as store from './notification-counts.store.ts'

export type NotificationCountsService = ReturnType<typeof createNotificationCountsService>

export const createNotificationCountsService = ({ db }: { db: Db }) => ({
  list: async (
    applicationId: string,
    bounds: { from: string; to: string },
  ): Promise<store.NotificationDeliveryCount[]> =>
    store.listCounts(db.read, applicationId, readDayRange(bounds)),
})
