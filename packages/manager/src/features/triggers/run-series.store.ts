// These statements read the series of a project from the counts that the roll-up writes. They do not read the runs.
import { sql } from 'kysely'
import type { Reads } from '../../platform/postgres/handles.ts'

export type RunSeriesPoint = { hour: string; outcome: string; count: number }
/** `triggerId` is null for the whole project. */
export type RunSeriesKey = { projectId: string; triggerId: string | null; from: string; to: string }

export async function hasTrigger(db: Reads, projectId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('triggers')
    .select('id')
    .where('id', '=', id)
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the points in the order of the index: at most seven outcomes for each hour. */
export async function listPoints(db: Reads, key: RunSeriesKey): Promise<RunSeriesPoint[]> {
  const triggerCondition =
    key.triggerId === null ? sql`trigger_id is null` : sql`trigger_id = ${key.triggerId}`
  const { rows } = await sql<RunSeriesPoint>`
    select hour, outcome, runs::integer as count from trigger_run_counts
    where project_id = ${key.projectId} and ${triggerCondition}
      and hour >= ${key.from}::timestamptz and hour < ${key.to}::timestamptz and runs > 0
    order by hour, outcome`.execute(db)
  return rows
}
