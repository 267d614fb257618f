-- Why: what is dropped from the log of calls goes by the database's clock alone. A process whose clock is wrong, or a caller
-- that asks for too much, must not erase calls that are still to be kept.

-- Drops the months whose last call is older than so many days. The current and the previous month always stay, and
-- nothing younger than 31 days goes, whatever is asked for.
create function esb_audit_logs_drop_expired(retention_days integer) returns integer language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  today date := (now() at time zone 'UTC')::date;
  partition text;
  dropped integer := 0;
begin
  if retention_days is null or retention_days < 31 then
    raise exception 'the log of calls is kept for 31 days at least' using errcode = 'invalid_parameter_value';
  end if;
  for partition in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'public.esb_audit_logs'::regclass
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' + make_interval(days => retention_days)
        <= now() at time zone 'UTC'
      and to_date(right(c.relname, 7), 'YYYY_MM') < date_trunc('month', today) - interval '1 month'
  loop
    execute format('drop table public.%I', partition);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;
revoke all on function esb_audit_logs_drop_expired(integer) from public;

-- The former release still calls this one, with a time of its own clock. What it asks for is bounded the same way.
create or replace function esb_audit_logs_drop_before(oldest timestamptz) returns integer language sql
  security definer set search_path = pg_catalog, public, pg_temp as $$
  select public.esb_audit_logs_drop_expired(
    greatest(31, ceil(extract(epoch from now() - oldest) / 86400)::integer))
$$;
