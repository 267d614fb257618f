-- Why: pg-boss reads every active job to fetch one, and divides its room between projects only with a loop and SQL of ours.
-- One table of ours hands out jobs at a cost that does not depend on how many are active or wait.

create table queued_jobs (
  id bigint generated always as identity,
  queue text collate "C" not null,
  -- Owners have fair shares of a process; a group has a limit over all processes.
  owner text collate "C" not null,
  group_key text collate "C" not null,
  data jsonb not null,
  -- Null while the job can be fetched. Otherwise a process holds it until then, or it waits until then.
  hidden_until timestamptz,
  is_held boolean not null default false,
  -- Number of times the job was fetched. A process that fetched it earlier can no longer extend or finish it.
  claims integer not null default 0,
  waiting_since timestamptz not null default now(),
  constraint queued_jobs_pkey primary key (id),
  constraint queued_jobs_group_present check (group_key <> ''),
  constraint queued_jobs_held_is_hidden check (not is_held or hidden_until is not null)
) with (
  -- Every job is inserted, updated and deleted within seconds.
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);
-- A fetch goes from group to group.
create index queued_jobs_waiting_idx on queued_jobs (queue, owner, group_key, id) where hidden_until is null;
-- How many jobs of a group are held.
create index queued_jobs_held_idx on queued_jobs (queue, owner, group_key) where is_held;
-- Leases that have expired, and jobs whose time has come.
create index queued_jobs_hidden_idx on queued_jobs (hidden_until) where hidden_until is not null;

-- The previous release enqueues and fetches in the schema jobs, and may run beside this one or again after it. Each release
-- takes over what no process of the other one works on. A later migration drops these functions and the schema.

-- Moves jobs of the previous release that are due, or whose process has sent no heartbeat for its ten seconds and a few more.
create function queued_jobs_adopt() returns integer language sql set search_path = pg_catalog, pg_temp as $$
  with due as (
    select name, id from jobs.job_common
    where state < 'active' and start_after <= now() or state = 'active' and heartbeat_on < now() - interval '13 seconds'
    limit 1000 for update skip locked
  ), adopted as (
    delete from jobs.job_common j using due where j.name = due.name and j.id = due.id
    returning j.name, j.group_id, j.data
  ), moved as (
    insert into public.queued_jobs (queue, owner, group_key, data)
    select name, split_part(coalesce(group_id, name), '/', 1), coalesce(group_id, name), data from adopted returning 1
  )
  select count(*)::integer from moved
$$;

-- Moves jobs of this release that no process has fetched for fifteen seconds. pg-boss stamps its queues every three seconds,
-- so this runs exactly while a process of the previous release does.
create function queued_jobs_hand_back() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with overdue as (
    select id from public.queued_jobs
    where queue = new.name and (hidden_until is null and waiting_since < now() - interval '15 seconds'
      or hidden_until < now() - interval '15 seconds')
    limit 1000 for update skip locked
  ), returned as (
    delete from public.queued_jobs j using overdue where j.id = overdue.id returning j.group_key, j.data
  )
  insert into jobs.job_common (name, data, group_id, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max,
    expire_seconds, deletion_seconds, heartbeat_seconds, keep_until)
  select new.name, r.data, r.group_key, new.policy, new.retry_limit, new.retry_delay, new.retry_backoff,
    new.retry_delay_max, new.expire_seconds, new.deletion_seconds, new.heartbeat_seconds,
    now() + new.retention_seconds * interval '1 second'
  from returned r;
  return null;
end
$$;
create trigger queue_hand_back after update of monitor_claim_on on jobs.queue
  for each row execute function queued_jobs_hand_back();
