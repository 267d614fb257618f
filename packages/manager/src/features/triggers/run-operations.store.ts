// Runs as an operator sees and repeats them.
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
/** `outcome` is one of the words of the code. */
export type RunFilter = { triggerId: string | null; outcome: string | null; limit: number }

/** The runs that were planned last; ids rise with time. Names of what is deleted are empty. */
export async function listRuns(db: Reads, { triggerId, outcome, limit }: RunFilter): Promise<ListedRun[]> {
  const ofTrigger = triggerId === null ? sql`true` : sql`r.trigger_id = ${triggerId}`
  // As a literal, so that the index of failed runs is found.
  const withOutcome = outcome === null ? sql`true` : sql`r.outcome = ${sql.lit(outcome)}`
  const { rows } = await sql<ListedRun>`
    select r.id, r.scheduled_at, coalesce(p.slug, '') as project, coalesce(a.slug, '') as application,
      r.trigger_name as trigger, coalesce(e.name, '') as environment, r.outcome, r.attempts, r.response_status, r.failure
    from trigger_runs r
    left join projects p on p.id = r.project_id
    left join applications a on a.id = r.application_id
    left join environments e on e.id = r.environment_id
    where ${ofTrigger} and ${withOutcome}
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

/** Opens a run again, as if it had not been attempted; when it was first attempted stays. */
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

/** Whether an attempt of the run waits or is being made. Reads what waits; only an operator asks. */
export async function hasAttempt(tx: Tx, run: LockedRun): Promise<boolean> {
  // The second table is that of the previous release, which may still be running.
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select from (select data from queued_jobs union all select data from jobs.job_common where state <= 'active') j
      where data->>'triggerId' = ${run.triggerId} and data->>'environmentId' = ${run.environmentId}
        and (data->>'scheduledAt')::timestamptz = ${run.scheduledAt}::timestamptz) as has`.execute(tx)
  return rows[0]?.has === true
}
