// Reads the number of runs per hour.
import { notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { readDayRange } from '../../platform/inputs/day-range.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import * as store from './run-series.store.ts'

export type RunSeriesService = ReturnType<typeof createRunSeriesService>
type Arguments = { projectId: string; triggerId?: string | null; from: string; to: string }

export function createRunSeriesService({ db }: { db: Db }) {
  const findTriggerId = async (projectId: string, id: string): Promise<string> => {
    const parsedId = parseUuid(id)
    if (parsedId === null || !(await store.hasTrigger(db.read, projectId, parsedId)))
      throw notFound('trigger')
    return parsedId
  }
  return {
    list: async ({ projectId, triggerId, ...bounds }: Arguments): Promise<store.RunSeriesPoint[]> => {
      const range = readDayRange(bounds)
      const trigger = typeof triggerId === 'string' ? await findTriggerId(projectId, triggerId) : null
      return store.listPoints(db.read, { projectId, triggerId: trigger, ...range })
    },
  }
}
