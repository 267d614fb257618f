// These statements read the series of a project from the counts that the roll-up writes. They do not read the log.
import type { Reads } from '../../platform/postgres/handles.ts'
import { sql } from 'kysely'

export type CallSeriesPoint = { hour: string; outcome: string; count: number; totalDurationMs: number }
/** `applicationId` is null for the whole project. */
export type CallSeriesKey = { projectId: string; applicationId: string | null; from: string; to: string }

export async function hasApplication(db: Reads, projectId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('applications')
    .select('id')
    .where('id', '=', id)
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the points in the order of the index: at most six outcomes for each hour. */
export async function listPoints(db: Reads, key: CallSeriesKey): Promise<CallSeriesPoint[]> {
  const applicationCondition =
    key.applicationId === null ? sql`application_id is null` : sql`application_id = ${key.applicationId}`
  const { rows } = await sql<CallSeriesPoint>`
    select hour, outcome, calls::integer as count, total_duration_ms::float8 as total_duration_ms
    from esb_call_counts
    where project_id = ${key.projectId} and ${applicationCondition}
      and hour >= ${key.from}::timestamptz and hour < ${key.to}::timestamptz
    order by hour, outcome`.execute(db)
  return rows
}
