// These statements record deliveries. Attempts that start or end at the same time share a statement, with columns
// passed as arrays. Runs are looked up by primary key, which prunes the partitions of other months.
import { sql } from 'kysely'
import type { Queries, Tx } from '../../platform/postgres/handles.ts'
import type { AttemptJob } from './attempts.pure.ts'

export type StartedRun = {
  /** Position of the attempt in the input, starting at 1. */
  position: number
  id: string
  projectId: string
  applicationId: string
  triggerId: string
  environmentId: string
  scheduledAt: string
  triggerName: string
  cronExpression: string
  runKey: string
  executedAt: string
  starts: number
  /** False if the trigger is deleted, or if it is disabled and no person started the run. */
  isEnabled: boolean
}

const isEnabled = sql`(t.id is not null and (t.enabled or r.requested_by is not null))`

/**
 * Records the start of attempts. The first attempt sets `executed_at`. Omits finished runs. The
 * transaction must commit before the request is sent, so that a repeated attempt sends the same body.
 */
export async function startAttempts(db: Queries, attempts: readonly AttemptJob[]): Promise<StartedRun[]> {
  const { rows } = await sql<StartedRun>`
    update trigger_runs r set attempts = greatest(r.attempts, w.attempt), starts = r.starts + 1,
      executed_at = case when ${isEnabled} then coalesce(r.executed_at, now()) else r.executed_at end
    from unnest(${attempts.map(({ triggerId }) => triggerId)}::uuid[],
      ${attempts.map(({ scheduledAt }) => scheduledAt)}::timestamptz[],
      ${attempts.map(({ environmentId }) => environmentId)}::uuid[],
      ${attempts.map(({ attempt }) => attempt)}::integer[])
      with ordinality as w (trigger_id, scheduled_at, environment_id, attempt, position)
    left join triggers t on t.id = w.trigger_id
    where r.trigger_id = w.trigger_id and r.scheduled_at = w.scheduled_at and r.environment_id = w.environment_id
      and r.outcome = 'pending'
    returning w.position::integer, r.id, r.project_id, r.application_id, r.trigger_id, r.environment_id, r.scheduled_at,
      r.trigger_name, r.cron_expression, r.run_key, r.executed_at, r.starts, ${isEnabled} as is_enabled`.execute(
    db,
  )
  return rows
}

/** The result of an attempt. The outcome is `pending` if another attempt follows. */
export type FinishedAttempt = {
  triggerId: string
  environmentId: string
  scheduledAt: string
  outcome: 'pending' | 'delivered' | 'failed' | 'cancelled'
  status: number | null
  failure: string | null
}

/** Writes the results of attempts. Finished runs stay unchanged. */
export async function finishAttempts(tx: Tx, attempts: readonly FinishedAttempt[]): Promise<void> {
  const mapAttempts = <T>(value: (attempt: FinishedAttempt) => T): T[] => attempts.map(value)
  await sql`
    update trigger_runs r set outcome = w.outcome, response_status = w.status, failure = w.failure,
      finished_at = case when w.outcome <> 'pending' then now() end
    from unnest(${mapAttempts(({ triggerId }) => triggerId)}::uuid[], ${mapAttempts((attempt) => attempt.scheduledAt)}::timestamptz[],
      ${mapAttempts(({ environmentId }) => environmentId)}::uuid[], ${mapAttempts(({ outcome }) => outcome)}::text[],
      ${mapAttempts(({ status }) => status)}::integer[], ${mapAttempts(({ failure }) => failure)}::text[])
      as w (trigger_id, scheduled_at, environment_id, outcome, status, failure)
    where r.trigger_id = w.trigger_id and r.scheduled_at = w.scheduled_at and r.environment_id = w.environment_id
      and r.outcome = 'pending'`.execute(tx)
}
