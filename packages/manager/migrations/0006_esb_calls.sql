-- Why: calls through the ESB. Each is written twice, when it begins and when it ends, so the log has one index, found by
-- who called what, and room on its pages for the second write. Nothing has written to the former table yet.

drop function esb_audit_logs_prepare(integer);
drop function esb_audit_logs_drop_before(timestamptz);
drop table esb_audit_logs;

-- Who has a logged call to what: the log is read and counted by these pairs. A pair holds the endpoint and the machine
-- user it names, so a first call cannot pass a deletion.
create table esb_callers (
  endpoint_id uuid not null,
  machine_user_id uuid not null,
  project_id uuid not null,
  constraint esb_callers_pkey primary key (endpoint_id, machine_user_id),
  constraint esb_callers_endpoint_fkey foreign key (project_id, endpoint_id)
    references endpoints (project_id, id) on delete cascade,
  constraint esb_callers_machine_user_fkey foreign key (project_id, machine_user_id)
    references machine_users (project_id, id) on delete cascade
);
create index esb_callers_machine_user_idx on esb_callers (machine_user_id);

-- A row without a duration is a call whose end nobody knows; one without a status was not answered.
create table esb_audit_logs (
  id uuid not null,
  created_at timestamptz(3) not null,
  endpoint_id uuid not null,
  machine_user_id uuid not null,
  source_ip text not null,
  method text not null,
  path text not null,
  target_url text not null,
  response_status integer,
  duration_ms integer,
  transformed boolean not null default false,
  failure text,
  request_headers jsonb,
  request_body text,
  response_headers jsonb,
  response_body text
) partition by range (created_at);
create index esb_audit_logs_caller_idx on esb_audit_logs (endpoint_id, machine_user_id, created_at, id);

-- Makes the partitions of last month (a clock may be behind), this month and so many more. With the rights of whoever
-- migrates: the service's own role makes no tables.
create function esb_audit_logs_prepare(months_ahead integer) returns integer language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  first_day date;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('esb_audit_logs_prepare'));
  for i in -1..months_ahead loop
    first_day := (date_trunc('month', now() at time zone 'UTC') + make_interval(months => i))::date;
    if to_regclass('public.esb_audit_logs_' || to_char(first_day, 'YYYY_MM')) is null then
      execute format(
        'create table public.%I partition of public.esb_audit_logs for values from (%L) to (%L) with (fillfactor = 50)',
        'esb_audit_logs_' || to_char(first_day, 'YYYY_MM'),
        first_day || ' 00:00:00+00', (first_day + interval '1 month')::date || ' 00:00:00+00');
      made := made + 1;
    end if;
  end loop;
  return made;
end
$$;
create function esb_audit_logs_drop_before(oldest timestamptz) returns integer language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  partition text;
  dropped integer := 0;
begin
  for partition in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'public.esb_audit_logs'::regclass
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= oldest at time zone 'UTC'
  loop
    execute format('drop table public.%I', partition);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;
revoke all on function esb_audit_logs_prepare(integer), esb_audit_logs_drop_before(timestamptz) from public;

select esb_audit_logs_prepare(2);
