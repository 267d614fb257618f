// Reads the number of calls per hour.
import { notFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { readDayRange } from '../../platform/inputs/day-range.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import * as store from './call-series.store.ts'

export type CallSeriesService = ReturnType<typeof createCallSeriesService>
type Arguments = { projectId: string; applicationId?: string | null; from: string; to: string }

export function createCallSeriesService({ db }: { db: Db }) {
  const findApplicationId = async (projectId: string, id: string): Promise<string> => {
    const parsedId = parseUuid(id)
    if (parsedId === null || !(await store.hasApplication(db.read, projectId, parsedId)))
      throw notFound('application')
    return parsedId
  }
  return {
    list: async ({ projectId, applicationId, ...bounds }: Arguments): Promise<store.CallSeriesPoint[]> => {
      const range = readDayRange(bounds)
      const application =
        typeof applicationId === 'string' ? await findApplicationId(projectId, applicationId) : null
      return store.listPoints(db.read, { projectId, applicationId: application, ...range })
    },
  }
}
