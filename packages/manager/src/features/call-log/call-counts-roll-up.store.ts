// Counts the calls of a range by project, application, hour and outcome. The BRIN index on the time finds the newest
// calls, so the cost depends on the number of calls in the range, not on the size of the log or the number of callers.
// Calls in flight are kept in esb_open_calls until they end.
import { sql } from 'kysely'
import type { TimeRange } from '../../platform/jobs/roll-ups.ts'
import type { Tx } from '../../platform/postgres/handles.ts'

// No call lasts longer than this, because the forward timeout is at most one hour.
const maxCallHours = 2

/** The planner has no statistics about the last minute. It would expect no rows there and scan the whole table. */
const forceIndexScans = sql`select set_config('enable_seqscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`

// A failure with a 4xx status means that the Manager rejected the call. Without a failure, the partner sent the
// response.
const outcome = sql`case
  when duration_ms is null then 'unknown'
  when failure is not null and response_status between 400 and 499 then 'rejected'
  when failure is not null or response_status is null then 'failed'
  when response_status < 400 then 'ok'
  when response_status < 500 then 'client_error'
  else 'server_error' end`

/** Counts the calls that started in the range, and earlier calls that have ended since. */
export async function countCalls(tx: Tx, { from, until }: TimeRange): Promise<void> {
  await forceIndexScans.execute(tx)
  await sql`
    with started as materialized (
      select e.project_id, e.application_id, l.*
      from (
        select endpoint_id, machine_user_id, created_at, id, duration_ms, response_status, failure
        from esb_audit_logs
        where created_at >= ${from}::timestamptz and created_at < ${until}::timestamptz
        offset 0
      ) l
      join endpoints e on e.id = l.endpoint_id
    ), opened as (
      insert into esb_open_calls (project_id, application_id, endpoint_id, machine_user_id, created_at, id)
      select project_id, application_id, endpoint_id, machine_user_id, created_at, id
      from started where duration_ms is null
      on conflict do nothing
    ), ended as materialized (
      select o.project_id, o.application_id, o.id, o.created_at, l.duration_ms, l.response_status, l.failure
      from esb_open_calls o
      left join lateral (
        select duration_ms, response_status, failure from esb_audit_logs
        where endpoint_id = o.endpoint_id and machine_user_id = o.machine_user_id
          and created_at = o.created_at and id = o.id limit 1
      ) l on true
      where l.duration_ms is not null or o.created_at < now() - make_interval(hours => ${sql.lit(maxCallHours)})
    ), closed as (
      delete from esb_open_calls o using ended where o.id = ended.id
    ), counted as (
      select project_id, application_id, created_at, duration_ms, ${outcome} as outcome from ended
      union all
      select project_id, application_id, created_at, duration_ms, ${outcome} from started
      where duration_ms is not null
    )
    insert into esb_call_counts as c (project_id, application_id, hour, outcome, calls, total_duration_ms)
    select project_id, application_id, hour, outcome, count(*), coalesce(sum(duration_ms), 0)
    from (select *, date_trunc('hour', created_at, 'UTC') as hour from counted) counted
    group by grouping sets ((project_id, application_id, hour, outcome), (project_id, hour, outcome))
    on conflict (project_id, application_id, hour, outcome) do update
      set calls = c.calls + excluded.calls, total_duration_ms = c.total_duration_ms + excluded.total_duration_ms`.execute(
    tx,
  )
}
