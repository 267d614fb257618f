-- Why: more tables than the log of calls are partitioned by month. One pair of functions makes and drops the partitions of
-- all of them, for a role that makes and drops no tables itself.

-- The tables the functions act on, and no others. What is younger than least_days is never dropped.
create table monthly_partitions (
  parent text not null,
  least_days integer not null,
  fillfactor integer not null default 100,
  constraint monthly_partitions_pkey primary key (parent),
  constraint monthly_partitions_parent_form check (parent ~ '^[a-z][a-z0-9_]{0,54}$'),
  constraint monthly_partitions_least_days_range check (least_days between 1 and 36500),
  constraint monthly_partitions_fillfactor_range check (fillfactor between 10 and 100)
);
insert into monthly_partitions (parent, least_days, fillfactor) values ('esb_audit_logs', 31, 50);

-- The functions below have their owner's rights, so only the owner says what they act on, whatever others are granted.
create function monthly_partitions_guard() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  if not pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
    raise exception 'only the owner changes %', tg_table_name using errcode = 'insufficient_privilege';
  end if;
  return null;
end
$$;
create trigger monthly_partitions_owner_only before insert or update or delete or truncate on monthly_partitions
  for each statement execute function monthly_partitions_guard();

-- Makes the partitions of last month (a clock may be behind), this month and so many more; answers how many were missing.
-- Partitions come and go under a lock of the whole table, and its writers queue up behind whoever waits for it.
create function partitions_prepare(parent_table text, months_ahead integer) returns integer language plpgsql
  security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '2s' as $$
declare
  spec record;
  first_day date;
  partition text;
  made integer := 0;
begin
  select * into spec from public.monthly_partitions where parent = parent_table;
  if not found then
    raise exception 'no such table is partitioned by month' using errcode = 'invalid_parameter_value';
  end if;
  if months_ahead is null or months_ahead not between 0 and 12 then
    raise exception 'partitions are made for 0 to 12 months ahead' using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('partitions_prepare ' || spec.parent, 0));
  for i in -1..months_ahead loop
    first_day := date_trunc('month', now()) + make_interval(months => i);
    partition := spec.parent || '_' || to_char(first_day, 'YYYY_MM');
    if to_regclass(format('public.%I', partition)) is null then
      execute format(
        'create table public.%I partition of public.%I for values from (%L) to (%L) with (fillfactor = %s)',
        partition, spec.parent, first_day || ' 00:00:00+00',
        (first_day + interval '1 month')::date || ' 00:00:00+00', spec.fillfactor);
      made := made + 1;
    end if;
  end loop;
  return made;
end
$$;

-- Drops the partitions whose upper bound is so many days ago, by the database's clock; answers how many. The current and
-- the previous month always stay, and so does a partition without such a bound. Does nothing while another is at it.
create function partitions_drop_expired(parent_table text, retention_days integer) returns integer language plpgsql
  security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '2s' as $$
declare
  spec record;
  partition regclass;
  dropped integer := 0;
begin
  select * into spec from public.monthly_partitions where parent = parent_table;
  if not found then
    raise exception 'no such table is partitioned by month' using errcode = 'invalid_parameter_value';
  end if;
  if retention_days is null or retention_days < spec.least_days then
    raise exception '% is kept for % days at least', spec.parent, spec.least_days
      using errcode = 'invalid_parameter_value';
  end if;
  if not pg_try_advisory_xact_lock(hashtextextended('partitions_drop_expired ' || spec.parent, 0)) then
    return 0;
  end if;
  for partition in
    select c.oid from pg_inherits i join pg_class c on c.oid = i.inhrelid
    cross join lateral (
      select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)$')::timestamptz as upper_bound
    ) b
    where i.inhparent = format('public.%I', spec.parent)::regclass
      and b.upper_bound + make_interval(days => retention_days) <= now()
      and b.upper_bound <= date_trunc('month', now()) - interval '1 month'
  loop
    execute format('drop table %s', partition);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;
revoke all on function partitions_prepare(text, integer), partitions_drop_expired(text, integer) from public;

-- The former release still calls these, and esb_audit_logs_drop_before, which calls the second.
create or replace function esb_audit_logs_prepare(months_ahead integer) returns integer language sql
  security definer set search_path = pg_catalog, pg_temp as $$
  select public.partitions_prepare('esb_audit_logs', months_ahead)
$$;
create or replace function esb_audit_logs_drop_expired(retention_days integer) returns integer language sql
  security definer set search_path = pg_catalog, pg_temp as $$
  select public.partitions_drop_expired('esb_audit_logs', retention_days)
$$;
