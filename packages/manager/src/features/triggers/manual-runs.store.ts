// These statements start runs on request. The caller has locked the trigger, so neither a tick nor another request can
// plan a run of the trigger at the same time.
import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { type TriggerRun, runColumns } from './trigger-runs.store.ts'

export type NewManualRun = {
  id: string
  projectId: string
  applicationId: string
  triggerId: string
  environmentId: string
  triggerName: string
  cronExpression: string
  runKey: string
  requestedBy: string
  retryOf: string | null
  requestKey: string | null
}

/** Returns the id of the trigger of a run. */
export async function findTriggerOfRun(db: Reads, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('triggerRuns').select('triggerId').where('id', '=', id).executeTakeFirst()
  return row?.triggerId
}

/** Returns whether the environment belongs to the project. */
export async function hasEnvironment(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('environments')
    .select('id')
    .where('id', '=', id)
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  return row !== undefined
}

/** Selects the runs of a trigger in an environment, except the run with the id `exceptId`. */
export type RunSlot = { triggerId: string; environmentId: string; exceptId?: string }

/** Returns the id of a pending run. As in a tick, a run that has been pending for a day no longer counts. */
export async function findPendingRun(
  tx: Tx,
  { triggerId, environmentId, exceptId }: RunSlot,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from trigger_runs
    where trigger_id = ${triggerId} and environment_id = ${environmentId} and outcome = 'pending'
      and scheduled_at > now() - interval '1 day' and id is distinct from ${exceptId ?? null}::uuid
    limit 1`.execute(tx)
  return rows[0]?.id
}

/** Returns the run that a request with this key started in the last 24 hours. */
export async function findRequestedRun(
  tx: Tx,
  triggerId: string,
  requestKey: string,
): Promise<TriggerRun | undefined> {
  const { rows } = await sql<TriggerRun>`
    select ${runColumns} from trigger_runs
    where trigger_id = ${triggerId} and request_key = ${requestKey} and scheduled_at > now() - interval '1 day'
    order by scheduled_at desc limit 1`.execute(tx)
  return rows[0]
}

/** Returns a retry of the run that is pending or delivered. */
export async function findActiveRetry(
  tx: Tx,
  run: { id: string; scheduledAt: string },
): Promise<{ id: string; outcome: string } | undefined> {
  const { rows } = await sql<{ id: string; outcome: string }>`
    select id, outcome from trigger_runs
    where retry_of = ${run.id} and scheduled_at >= ${run.scheduledAt}::timestamptz
      and outcome in ('pending', 'delivered')
    order by scheduled_at desc limit 1`.execute(tx)
  return rows[0]
}

/**
 * Inserts a run that is planned for now. Ticks plan runs at whole minutes. A manual run at a whole minute would replace
 * a planned run, so it is inserted one millisecond earlier.
 */
export async function insertManualRun(tx: Tx, run: NewManualRun): Promise<TriggerRun> {
  const { rows } = await sql<TriggerRun>`
    insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
      cron_expression, run_key, outcome, requested_by, retry_of, request_key)
    select ${run.id}::uuid,
      case when at = date_trunc('minute', at) then at - interval '1 millisecond' else at end,
      ${run.projectId}::uuid, ${run.applicationId}::uuid, ${run.triggerId}::uuid, ${run.environmentId}::uuid,
      ${run.triggerName}::text, ${run.cronExpression}::text, ${run.runKey}::text, 'pending',
      ${run.requestedBy}::uuid, ${run.retryOf}::uuid, ${run.requestKey}::text
    from date_trunc('milliseconds', clock_timestamp()) as at
    returning ${runColumns}`.execute(tx)
  return rows[0] as TriggerRun
}
