// The statements of deliveries. Attempts that begin or end together share a statement; columns travel as arrays. A run is
// found by its primary key, which prunes the other months.
import { sql } from 'kysely'
import type { Queries, Tx } from '../../platform/postgres/handles.ts'
import type { AttemptJob } from './attempts.pure.ts'

export type BegunRun = {
  /** Which of the given attempts it is, from 1. */
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
  /** False when the trigger is disabled or gone. */
  isEnabled: boolean
}

/**
 * Notes that attempts begin; the first one fixes `executed_at`. Returns nothing for runs that are over. Committed before
 * anything is sent, so that an attempt that is made again sends the same.
 */
export async function beginAttempts(db: Queries, attempts: readonly AttemptJob[]): Promise<BegunRun[]> {
  const { rows } = await sql<BegunRun>`
    update trigger_runs r set attempts = greatest(r.attempts, w.attempt), starts = r.starts + 1,
      executed_at = case when t.enabled then coalesce(r.executed_at, now()) else r.executed_at end
    from unnest(${attempts.map(({ triggerId }) => triggerId)}::uuid[],
      ${attempts.map(({ scheduledAt }) => scheduledAt)}::timestamptz[],
      ${attempts.map(({ environmentId }) => environmentId)}::uuid[],
      ${attempts.map(({ attempt }) => attempt)}::integer[])
      with ordinality as w (trigger_id, scheduled_at, environment_id, attempt, position)
    left join triggers t on t.id = w.trigger_id
    where r.trigger_id = w.trigger_id and r.scheduled_at = w.scheduled_at and r.environment_id = w.environment_id
      and r.outcome = 'pending'
    returning w.position::integer, r.id, r.project_id, r.application_id, r.trigger_id, r.environment_id, r.scheduled_at,
      r.trigger_name, r.cron_expression, r.run_key, r.executed_at, r.starts, coalesce(t.enabled, false) as is_enabled
  `.execute(db)
  return rows
}

/** What an attempt left in its run; the outcome is `pending` when another attempt follows. */
export type EndedAttempt = {
  triggerId: string
  environmentId: string
  scheduledAt: string
  outcome: 'pending' | 'delivered' | 'failed' | 'cancelled'
  status: number | null
  failure: string | null
}

/** Writes what attempts left; a run that is over stays as it is. */
export async function endAttempts(tx: Tx, attempts: readonly EndedAttempt[]): Promise<void> {
  const of = <T>(value: (attempt: EndedAttempt) => T): T[] => attempts.map(value)
  await sql`
    update trigger_runs r set outcome = w.outcome, response_status = w.status, failure = w.failure,
      finished_at = case when w.outcome <> 'pending' then now() end
    from unnest(${of(({ triggerId }) => triggerId)}::uuid[], ${of((attempt) => attempt.scheduledAt)}::timestamptz[],
      ${of(({ environmentId }) => environmentId)}::uuid[], ${of(({ outcome }) => outcome)}::text[],
      ${of(({ status }) => status)}::integer[], ${of(({ failure }) => failure)}::text[])
      as w (trigger_id, scheduled_at, environment_id, outcome, status, failure)
    where r.trigger_id = w.trigger_id and r.scheduled_at = w.scheduled_at and r.environment_id = w.environment_id
      and r.outcome = 'pending'`.execute(tx)
}
