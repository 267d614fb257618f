-- Why: the ESB. Endpoints with the secrets they call partners with (sealed, never in the clear), who may call them, and
-- the log of calls. The log grows without bound, so it is partitioned by month; dropping a month is its retention.

create table endpoints (
  id uuid not null,
  project_id uuid not null,
  application_id uuid not null,
  name text not null,
  description text not null,
  enabled boolean not null,
  consume_url text not null,
  url text,
  auth_type text not null,
  auth_username text not null,
  auth_password bytea,
  auth_token bytea,
  input_message_type text,
  output_message_type text,
  transformation_template text not null,
  log_level text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint endpoints_pkey primary key (id),
  constraint endpoints_project_id_id_key unique (project_id, id),
  constraint endpoints_consume_url_key unique (application_id, consume_url),
  constraint endpoints_name_length check (char_length(name) between 1 and 100),
  constraint endpoints_consume_url_form check (consume_url ~ '^/\S*$' and char_length(consume_url) <= 500),
  constraint endpoints_url_length check (char_length(url) <= 500),
  constraint endpoints_auth_type_known check (auth_type in ('Basic', 'Bearer', 'None')),
  constraint endpoints_input_known check (input_message_type in ('SOAP', 'XML', 'JSON')),
  constraint endpoints_output_known check (output_message_type in ('SOAP', 'XML', 'JSON')),
  constraint endpoints_log_level_known check (log_level in ('NONE', 'BASIC', 'FULL')),
  constraint endpoints_template_length check (octet_length(transformation_template) <= 65536),
  constraint endpoints_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade
);
create index endpoints_application_idx on endpoints (application_id, name, id);

create table machine_user2endpoints (
  id uuid not null,
  project_id uuid not null,
  machine_user_id uuid not null,
  endpoint_id uuid not null,
  enabled boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint machine_user2endpoints_pkey primary key (id),
  constraint machine_user2endpoints_pair_key unique (endpoint_id, machine_user_id),
  constraint machine_user2endpoints_machine_user_fkey foreign key (project_id, machine_user_id)
    references machine_users (project_id, id) on delete cascade,
  constraint machine_user2endpoints_endpoint_fkey foreign key (project_id, endpoint_id)
    references endpoints (project_id, id) on delete cascade
);
create index machine_user2endpoints_machine_user_idx on machine_user2endpoints (machine_user_id);

-- A row is written before a call is forwarded and completed before it is answered; one without a status is a call whose
-- end nobody knows.
create table esb_audit_logs (
  id uuid not null,
  created_at timestamptz(3) not null,
  project_id uuid not null,
  application_id uuid not null,
  endpoint_id uuid not null,
  machine_user_id uuid not null,
  source_ip text not null,
  method text not null,
  path text not null,
  target_url text not null,
  response_status integer,
  duration_ms integer,
  transformed boolean not null,
  request_headers jsonb,
  request_body text,
  response_headers jsonb,
  response_body text,
  constraint esb_audit_logs_pkey primary key (created_at, id)
) partition by range (created_at);
create index esb_audit_logs_application_idx on esb_audit_logs (application_id, created_at, id);
create index esb_audit_logs_endpoint_idx on esb_audit_logs (endpoint_id, created_at, id);
create index esb_audit_logs_machine_user_idx on esb_audit_logs (machine_user_id);

-- With the rights of whoever migrates: the service's own role makes no tables.
create function esb_audit_logs_prepare(months_ahead integer) returns integer language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  first_day date;
  made integer := 0;
begin
  for i in 0..months_ahead loop
    first_day := (date_trunc('month', now() at time zone 'UTC') + make_interval(months => i))::date;
    if to_regclass('public.esb_audit_logs_' || to_char(first_day, 'YYYY_MM')) is null then
      execute format('create table public.%I partition of public.esb_audit_logs for values from (%L) to (%L)',
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
