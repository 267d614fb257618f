// These statements implement a tick: they read due triggers, insert their runs, and set the next due times. Columns are
// passed as arrays, so the number of statements does not depend on the number of triggers.
import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'

export type DueTrigger = {
  id: string
  projectId: string
  applicationId: string
  name: string
  cronExpression: string
  runKey: string
  nextFireAt: string
  /** The current time of the database. */
  now: string
}
export type PlannedRun = {
  id: string
  trigger: DueTrigger
  environmentId: string
  scheduledAt: string
  /** True if the run is recorded but no longer fires. */
  isMissed: boolean
  isLive: boolean
}
export type NewRun = {
  triggerId: string
  projectId: string
  applicationId: string
  environmentId: string
  scheduledAt: string
  outcome: string
}

/** Returns the milliseconds until the next trigger is due by the database clock, or null. Reads one index entry. */
export async function findNextDueMs(db: Reads): Promise<number | null> {
  const { rows } = await sql<{ dueMs: number | null }>`
    select (extract(epoch from (
      select next_fire_at from triggers where next_fire_at is not null order by next_fire_at limit 1
    ) - clock_timestamp()) * 1000)::float8 as due_ms`.execute(db)
  return rows[0]?.dueMs ?? null
}

/**
 * Locks due triggers, longest overdue first, and skips triggers that other processes have locked. The cost depends only
 * on the number of due triggers.
 */
export async function lockDueTriggers(tx: Tx, count: number): Promise<DueTrigger[]> {
  const { rows } = await sql<DueTrigger>`
    select id, project_id, application_id, name, cron_expression, run_key, next_fire_at, now() as now
    from triggers where next_fire_at <= now()
    order by next_fire_at limit ${count} for update skip locked`.execute(tx)
  return rows
}

/**
 * Inserts runs that do not exist yet. A run is skipped while the previous run is pending, or if no backend is live. A
 * run that has been pending for a day no longer blocks other runs. A person may have started a run after this transaction
 * started, so pending runs of the next minute count too.
 */
export async function insertRuns(tx: Tx, runs: readonly PlannedRun[]): Promise<NewRun[]> {
  const mapRuns = <T>(value: (run: PlannedRun) => T): T[] => runs.map(value)
  const { rows } = await sql<NewRun>`
    insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
      cron_expression, run_key, outcome, finished_at)
    select w.id, w.scheduled_at, w.project_id, w.application_id, w.trigger_id, w.environment_id, w.trigger_name,
      w.cron_expression, w.run_key, o.outcome, case when o.outcome <> 'pending' then now() end
    from unnest(${mapRuns(({ id }) => id)}::uuid[], ${mapRuns((run) => run.scheduledAt)}::timestamptz[],
      ${mapRuns(({ trigger }) => trigger.projectId)}::uuid[], ${mapRuns(({ trigger }) => trigger.applicationId)}::uuid[],
      ${mapRuns(({ trigger }) => trigger.id)}::uuid[], ${mapRuns((run) => run.environmentId)}::uuid[],
      ${mapRuns(({ trigger }) => trigger.name)}::text[], ${mapRuns(({ trigger }) => trigger.cronExpression)}::text[],
      ${mapRuns(({ trigger }) => trigger.runKey)}::text[], ${mapRuns((run) => run.isMissed)}::boolean[],
      ${mapRuns((run) => run.isLive)}::boolean[]
    ) as w (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name, cron_expression,
      run_key, is_missed, is_live)
    cross join lateral (select case
      when w.is_missed then 'missed'
      when exists (
        select from trigger_runs r where r.trigger_id = w.trigger_id and r.environment_id = w.environment_id
          and r.outcome = 'pending' and r.scheduled_at > now() - interval '1 day'
          and r.scheduled_at < now() + interval '1 minute'
      ) then 'skipped_overlap'
      when not w.is_live then 'skipped_no_backend'
      else 'pending' end as outcome) o
    on conflict do nothing
    returning trigger_id, project_id, application_id, environment_id, scheduled_at, outcome`.execute(tx)
  return rows
}

/** Sets the next due times of triggers. */
export async function setNextFireTimes(
  tx: Tx,
  moves: readonly { id: string; nextFireAt: string }[],
): Promise<void> {
  await sql`
    update triggers t set next_fire_at = w.next_fire_at
    from unnest(${moves.map(({ id }) => id)}::uuid[], ${moves.map((move) => move.nextFireAt)}::timestamptz[])
      as w (id, next_fire_at)
    where t.id = w.id`.execute(tx)
}
