import { sql } from 'kysely'
import type { TimeWindow } from '../../platform/inputs/time-window.ts'
import { createWindowSql } from '../../platform/lists/log-page.ts'
import type { Db } from '../../platform/postgres/handles.ts'

export type TriggerRun = {
  id: string
  triggerId: string
  environmentId: string
  scheduledAt: string
  outcome: string
  attempts: number
  /** True if a person started the run. */
  isManual: boolean
  requestedBy: string | null
  retryOf: string | null
  executedAt: string | null
  finishedAt: string | null
  responseStatus: number | null
  failure: string | null
  createdAt: string
}

/** The columns of a TriggerRun. */
export const runColumns = sql`id, trigger_id, environment_id, scheduled_at, outcome, attempts,
  requested_by is not null as is_manual, requested_by, retry_of, executed_at, finished_at, response_status, failure,
  created_at`

/** Forces scans in the order of an index until the transaction ends. */
export const forceOrderedScans = sql`select set_config('enable_seqscan', 'off', true),
  set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)`

/**
 * Returns the newest runs of a trigger. The primary key of each monthly partition is scanned backward, newest month
 * first, until the limit is reached. Otherwise, the planner would assume an average number of runs per trigger and sort
 * all runs of a busy trigger.
 */
export function listRuns(
  db: Db,
  triggerId: string,
  { limit, window }: { limit: number; window: TimeWindow },
): Promise<TriggerRun[]> {
  return db.transaction(async (tx) => {
    await forceOrderedScans.execute(tx)
    const { rows } = await sql<TriggerRun>`
      select ${runColumns} from trigger_runs where trigger_id = ${triggerId} ${createWindowSql(sql`scheduled_at`, window)}
      order by scheduled_at desc, environment_id desc limit ${limit}`.execute(tx)
    return rows
  })
}
