// These statements list and retry runs for operators.
import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'

export type ListedRun = {
  id: string
  scheduledAt: string
  project: string
  application: string
  trigger: string
  environment: string
  outcome: string
  attempts: number
  responseStatus: number | null
  failure: string | null
}
/** `outcome` must be a known outcome, because it becomes an SQL literal. */
export type RunFilter = { triggerId: string | null; outcome: string | null; limit: number }

/** Returns the most recently planned runs, found by their ascending ids. Names of deleted objects are empty. */
export async function listRuns(db: Reads, { triggerId, outcome, limit }: RunFilter): Promise<ListedRun[]> {
  const triggerCondition = triggerId === null ? sql`true` : sql`r.trigger_id = ${triggerId}`
  // A literal lets the planner use the partial index of failed runs.
  const hasOutcome = outcome === null ? sql`true` : sql`r.outcome = ${sql.lit(outcome)}`
  const { rows } = await sql<ListedRun>`
    select r.id, r.scheduled_at, coalesce(p.slug, '') as project, coalesce(a.slug, '') as application,
      r.trigger_name as trigger, coalesce(e.name, '') as environment, r.outcome, r.attempts, r.response_status, r.failure
    from trigger_runs r
    left join projects p on p.id = r.project_id
    left join applications a on a.id = r.application_id
    left join environments e on e.id = r.environment_id
    where ${triggerCondition} and ${hasOutcome}
    order by r.id desc limit ${limit}`.execute(db)
  return rows
}

export type LockedRun = {
  id: string
  scheduledAt: string
  projectId: string
  applicationId: string
  triggerId: string
  environmentId: string
  triggerName: string
  outcome: string
}

export async function lockRun(tx: Tx, id: string): Promise<LockedRun | undefined> {
  return tx
    .selectFrom('triggerRuns')
    .select([
      'id',
      'scheduledAt',
      'projectId',
      'applicationId',
      'triggerId',
      'environmentId',
      'triggerName',
      'outcome',
    ])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Reopens a run as if it had not been attempted, but keeps the time of its first attempt. */
export async function reopenRun(tx: Tx, run: LockedRun): Promise<void> {
  await tx
    .updateTable('triggerRuns')
    .set({
      outcome: 'pending',
      attempts: 0,
      starts: 0,
      finishedAt: null,
      responseStatus: null,
      failure: null,
    })
    .where('triggerId', '=', run.triggerId)
    .where('scheduledAt', '=', run.scheduledAt)
    .where('environmentId', '=', run.environmentId)
    .execute()
}

/**
 * Returns whether an attempt of the run is queued or in progress. Scans the queue, which is acceptable for operators.
 */
export async function hasAttempt(tx: Tx, run: LockedRun): Promise<boolean> {
  // The second table belongs to the previous release, which may still be running.
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select from (select data from queued_jobs union all select data from jobs.job_common where state <= 'active') j
      where data->>'triggerId' = ${run.triggerId} and data->>'environmentId' = ${run.environmentId}
        and (data->>'scheduledAt')::timestamptz = ${run.scheduledAt}::timestamptz) as has`.execute(tx)
  return rows[0]?.has === true
}
