// Reads pages of the runs of a trigger.
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import { type LogArgs, readLogConnection, readLogQuery } from '../../platform/lists/log-page.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { countRuns, readRunPage } from './trigger-run-page.store.ts'
import type { TriggerRun } from './trigger-runs.store.ts'

type PageArguments = LogArgs & { environmentId?: string | null; outcome?: string | null }
/** A page in the shape of a GraphQL connection. The total is counted only when the client requests it. */
export type RunPage = Awaited<ReturnType<RunPagesService['page']>>
export type RunPagesService = ReturnType<typeof createRunPagesService>

const position = {
  name: 'run scheduledAt desc',
  size: 2,
  positionOf: ({ scheduledAt, environmentId }: TriggerRun): string[] => [scheduledAt, environmentId],
}
const outcomes = [
  'pending',
  'delivered',
  'failed',
  'cancelled',
  'skipped_no_backend',
  'skipped_overlap',
  'missed',
] as const

export const createRunPagesService = ({ db }: { db: Db }) => ({
  /** Returns a page of the runs of a trigger by cursor, newest first. */
  page: (triggerId: string, { environmentId, outcome, ...args }: PageArguments) => {
    const query = readLogQuery(args, position)
    const selection = {
      triggerId,
      environmentId:
        typeof environmentId === 'string' ? orNotFound(parseUuid(environmentId), 'environment') : null,
      outcome: typeof outcome === 'string' ? checkOneOf(outcome, 'outcome', outcomes) : null,
    }
    return readLogConnection(query, position, {
      read: () => readRunPage(db, selection, query),
      count: () => countRuns(db, selection, query),
    })
  },
})
