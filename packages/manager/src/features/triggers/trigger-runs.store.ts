import { sql } from 'kysely'
import type { Db } from '../../platform/postgres/handles.ts'

export type TriggerRun = {
  id: string
  triggerId: string
  environmentId: string
  scheduledAt: string
  outcome: string
  attempts: number
  executedAt: string | null
  finishedAt: string | null
  responseStatus: number | null
  failure: string | null
  createdAt: string
}

/**
 * The newest runs of a trigger: the primary key of each month is read backwards, newest month first, until there are
 * enough. The planner knows how many runs a trigger has on average; for one that has many more it would sort them all.
 */
export function listRuns(db: Db, triggerId: string, limit: number): Promise<TriggerRun[]> {
  return db.transaction(async (tx) => {
    await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('enable_sort', 'off', true)`.execute(tx)
    const { rows } = await sql<TriggerRun>`
      select id, trigger_id, environment_id, scheduled_at, outcome, attempts, executed_at, finished_at, response_status,
        failure, created_at
      from trigger_runs where trigger_id = ${triggerId}
      order by scheduled_at desc, environment_id desc limit ${limit}`.execute(tx)
    return rows
  })
}
