import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest } from '../../platform/errors.ts'
import { isPackageName } from '../../platform/inputs/packages.ts'
import { type UsageEntry, listUsageEntries } from './pilet-usage.store.ts'

export type FindPiletUsage = (
  projectId: string,
  name: string,
) => Promise<{ entries: UsageEntry[]; isComplete: boolean }>

const maxEntries = 1_000

/** Creates the function that finds the settings layers of a project that enable or pin a pilet. */
export const createPiletUsageFinder =
  ({ db }: { db: Db }): FindPiletUsage =>
  async (projectId, name) => {
    if (!isPackageName(name)) throw badRequest('name must be the name of a pilet, such as @acme/menu')
    const entries = await listUsageEntries(db.read, { projectId, name }, maxEntries + 1)
    return { entries: entries.slice(0, maxEntries), isComplete: entries.length <= maxEntries }
  }
