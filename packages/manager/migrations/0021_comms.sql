-- Why: backends notify people. What a notification says is kept once, and a row per recipient says who has read it; both
-- by month, because they grow without bound and are dropped when they are out of date.

-- The time of a notification is that of its id (UUIDv7), in milliseconds: an id alone leads to its rows.
create table notifications (
  id uuid not null,
  created_at timestamptz(3) not null,
  tenant_id uuid not null,
  application_id uuid not null,
  type text,
  title text,
  body text,
  severity text not null,
  link text,
  -- Not jsonb, which refuses some of JSON's characters.
  data json,
  expires_at timestamptz(3),
  constraint notifications_pkey primary key (created_at, id),
  constraint notifications_type_length check (char_length(type) between 1 and 100),
  constraint notifications_title_length check (char_length(title) <= 200),
  constraint notifications_body_length check (char_length(body) <= 4000),
  constraint notifications_link_length check (char_length(link) <= 2000),
  constraint notifications_data_size check (octet_length(data::text) <= 16384),
  constraint notifications_severity_known check (severity in ('info', 'success', 'warning', 'error'))
) partition by range (created_at);

-- The primary key is the order of an inbox; it also finds everything of a tenant and application that is deleted.
create table notification_recipients (
  tenant_id uuid not null,
  application_id uuid not null,
  user_id uuid not null,
  created_at timestamptz(3) not null,
  notification_id uuid not null,
  -- Repeated here, so that what an inbox is filtered by is found by index.
  type text,
  expires_at timestamptz(3),
  read_at timestamptz(3),
  seen_at timestamptz(3),
  constraint notification_recipients_pkey
    primary key (tenant_id, application_id, user_id, created_at, notification_id)
) partition by range (created_at);
create index notification_recipients_unread_idx on notification_recipients
  (tenant_id, application_id, user_id, created_at, notification_id) where read_at is null;
-- A look for a type says this too. The planner prices it high, and for nothing where the index has answered it: so no
-- statistics make it search an inbox for a type that is rare in it.
create function notification_has_type(type text) returns boolean language plpgsql immutable parallel safe cost 1000 as $$
begin
  return type is not null;
end
$$;
create index notification_recipients_type_idx on notification_recipients
  (tenant_id, application_id, user_id, type, created_at, notification_id) where notification_has_type(type);
create index notification_recipients_expiry_idx on notification_recipients (expires_at) where expires_at is not null;

insert into monthly_partitions (parent, least_days, fillfactor) values
  ('notifications', 31, 100), ('notification_recipients', 31, 80);
select partitions_prepare('notifications', 2);
select partitions_prepare('notification_recipients', 2);

-- What was answered to an emit with a key, for as long as the same key gets the same answer.
create table notification_keys (
  tenant_id uuid not null,
  application_id uuid not null,
  key text not null,
  -- SHA-256 of what was sent.
  fingerprint bytea not null,
  notification_id uuid not null,
  request_id text not null,
  recipient_count integer not null,
  expires_at timestamptz(3) not null,
  constraint notification_keys_pkey primary key (tenant_id, application_id, key),
  constraint notification_keys_key_length check (char_length(key) between 1 and 200),
  constraint notification_keys_fingerprint_size check (octet_length(fingerprint) = 32)
);
create index notification_keys_expiry_idx on notification_keys (expires_at);

-- When an application is no longer a tenant's, their notifications are deleted too: later and in parts, because there may
-- be millions. What was written after the request belongs to a row that was made again.
create table notification_erasures (
  id uuid not null default gen_random_uuid(),
  tenant_id uuid not null,
  application_id uuid not null,
  requested_at timestamptz(3) not null default now(),
  constraint notification_erasures_pkey primary key (id)
);
create index notification_erasures_requested_idx on notification_erasures (requested_at, id);
create function notification_erasures_request() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.notification_erasures (tenant_id, application_id)
  select gone.tenant_id, gone.application_id from gone;
  return null;
end
$$;
create trigger tenant2applications_erase_notifications after delete on tenant2applications
  referencing old table as gone for each statement execute function notification_erasures_request();

-- Whether a layer of settings turns notifications on or off. Settings may hold megabytes; this is read with every emit.
create function settings_comms_enabled(config jsonb) returns text language sql immutable
  set search_path = pg_catalog, pg_temp as $$
  -- A value that is no word of ours may be long; it means nothing.
  select left(jsonb_path_query_first(config, '$.KeyValuePairs[*] ? (@.Key == "comms.enabled").Value') #>> '{}', 10)
$$;
alter table settings
  add column backend_comms_enabled text generated always as (settings_comms_enabled(backend_module_config)) stored,
  add column frontend_comms_enabled text generated always as (settings_comms_enabled(frontend_module_config)) stored;
