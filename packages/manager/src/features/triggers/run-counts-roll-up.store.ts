// Counts the runs of a range by project, trigger, planned hour and outcome. Run ids contain the time of the transaction
// that planned the run, so the index on the id finds the runs of a range. Runs whose outcome may change are kept in
// trigger_open_runs. When the outcome changes, the roll-up moves the run from the old outcome to the new one.
import { sql } from 'kysely'
import { createSmallestId } from '../../platform/ids.ts'
import type { TimeRange } from '../../platform/jobs/roll-ups.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import type { LockedRun } from './run-operations.store.ts'

/** The planner has no statistics about the last minute. It would expect no rows there and scan the whole table. */
const forceIndexScans = sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`

/** Counts the runs that were planned in the range, and earlier runs whose outcome has changed. */
export async function countRuns(tx: Tx, { from, until }: TimeRange): Promise<void> {
  await forceIndexScans.execute(tx)
  await sql`
    with planned as materialized (
      select project_id, trigger_id, scheduled_at, environment_id, outcome from trigger_runs
      where id >= ${createSmallestId(from)}::uuid and id < ${createSmallestId(until)}::uuid
    ), opened as (
      insert into trigger_open_runs (project_id, trigger_id, scheduled_at, environment_id, counted_outcome)
      select project_id, trigger_id, scheduled_at, environment_id, outcome from planned where outcome = 'pending'
      on conflict do nothing
    ), changed as materialized (
      select o.*, r.outcome
      from trigger_open_runs o
      left join lateral (
        select outcome from trigger_runs where trigger_id = o.trigger_id and scheduled_at = o.scheduled_at
          and environment_id = o.environment_id limit 1
      ) r on true
      where r.outcome is distinct from 'pending' or o.counted_outcome <> 'pending'
    ), closed as (
      delete from trigger_open_runs o using changed c
      where o.trigger_id = c.trigger_id and o.scheduled_at = c.scheduled_at and o.environment_id = c.environment_id
        and c.outcome is distinct from 'pending'
    ), reopened as (
      update trigger_open_runs o set counted_outcome = 'pending' from changed c
      where o.trigger_id = c.trigger_id and o.scheduled_at = c.scheduled_at and o.environment_id = c.environment_id
        and c.outcome = 'pending'
    ), counted as (
      select project_id, trigger_id, scheduled_at, outcome, 1 as runs from planned
      union all
      select project_id, trigger_id, scheduled_at, outcome, 1 from changed where outcome is not null
      union all
      select project_id, trigger_id, scheduled_at, counted_outcome, -1 from changed where outcome is not null
    )
    insert into trigger_run_counts as c (project_id, trigger_id, hour, outcome, runs)
    select project_id, trigger_id, hour, outcome, sum(runs)
    from (select *, date_trunc('hour', scheduled_at, 'UTC') as hour from counted) counted
    group by grouping sets ((project_id, trigger_id, hour, outcome), (project_id, hour, outcome))
    having sum(runs) <> 0
    on conflict (project_id, trigger_id, hour, outcome) do update set runs = c.runs + excluded.runs`.execute(
    tx,
  )
}

/**
 * Tracks a run that is about to be reopened and is already counted, so that the next roll-up moves the run to its new
 * outcome. Waits for a roll-up in progress.
 */
export async function trackReopenedRun(tx: Tx, run: LockedRun): Promise<void> {
  const { rows } = await sql<{ countedUntil: string }>`
    select counted_until from roll_ups where name = 'trigger_runs' for share`.execute(tx)
  const [rollUp] = rows
  if (rollUp === undefined || run.id >= createSmallestId(rollUp.countedUntil)) return
  const { projectId, triggerId, scheduledAt, environmentId, outcome } = run
  await tx
    .insertInto('triggerOpenRuns')
    .values({ projectId, triggerId, scheduledAt, environmentId, countedOutcome: outcome })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
