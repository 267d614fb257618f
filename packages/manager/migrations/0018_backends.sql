-- Why: backends register to be called back. A registration is of one machine user for one application; the environment is
-- the machine user's. The token is sealed, because the Manager sends it with every callback.

create table backend_registrations (
  id uuid not null,
  project_id uuid not null,
  application_id uuid not null,
  environment_id uuid not null,
  machine_user_id uuid not null,
  callback_url text not null,
  callback_token bytea not null,
  version text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  last_heartbeat timestamptz(3) not null default now(),
  constraint backend_registrations_pkey primary key (id),
  constraint backend_registrations_machine_user_key unique (application_id, machine_user_id),
  constraint backend_registrations_callback_url_length check (char_length(callback_url) between 1 and 2048),
  constraint backend_registrations_version_length check (char_length(version) <= 100),
  constraint backend_registrations_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade,
  constraint backend_registrations_environment_fkey foreign key (project_id, environment_id)
    references environments (project_id, id) on delete cascade,
  constraint backend_registrations_machine_user_fkey foreign key (project_id, machine_user_id)
    references machine_users (project_id, id) on delete cascade
) with (fillfactor = 70);
create index backend_registrations_deployment_idx on backend_registrations (application_id, environment_id);
create index backend_registrations_machine_user_idx on backend_registrations (machine_user_id);
create index backend_registrations_environment_idx on backend_registrations (environment_id);
-- Who was silent too long is found without reading the others.
create index backend_registrations_heartbeat_idx on backend_registrations (last_heartbeat);

-- When heartbeats could be received at all. Processes that receive them say so every few seconds; after a time in which
-- none did, nobody is called silent for it. One row.
create table heartbeat_reception (
  only_row boolean not null default true,
  received_until timestamptz(3) not null default now(),
  outage_from timestamptz(3) not null default now(),
  outage_until timestamptz(3) not null default now(),
  constraint heartbeat_reception_pkey primary key (only_row),
  constraint heartbeat_reception_one_row check (only_row),
  constraint heartbeat_reception_outage_order check (outage_from <= outage_until)
);
insert into heartbeat_reception default values;

-- How long a backend has been silent, without the last outage of ours, and without one that goes on: nothing has been
-- received for longer than the pauses between two notes can be.
create function backend_silence(last_heartbeat timestamptz) returns interval language sql stable
  set search_path = pg_catalog, pg_temp as $$
  select now() - last_heartbeat
    - greatest(interval '0', least(now(), outage_until) - greatest(last_heartbeat, outage_from))
    - case when received_until < now() - interval '30 seconds'
        then greatest(interval '0', now() - greatest(last_heartbeat, received_until)) else interval '0' end
  from public.heartbeat_reception
$$;

-- A backend reads the tenants of its application in pages, in the order of their ids.
create index tenant2applications_enabled_idx on tenant2applications (application_id, tenant_id) where enabled;
