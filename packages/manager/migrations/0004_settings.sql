-- Why: settings and language packs. A settings row belongs to exactly one layer, told by which owner it names: neither
-- tenant nor application (the project's), one of them, or both (the tenant-by-application leaf). It appears and goes with
-- its owner, whichever code makes the owner; owners that are older get theirs when somebody first asks for it.

create table settings (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  tenant_id uuid,
  application_id uuid,
  backend_module_config jsonb not null default '{}',
  frontend_module_config jsonb not null default '{}',
  -- Bytes of both configs, so that a list of rows can tell what it would read before it does.
  content_bytes integer not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint settings_pkey primary key (id),
  constraint settings_layer_key unique nulls not distinct (project_id, tenant_id, application_id),
  constraint settings_project_fkey foreign key (project_id) references projects (id) on delete cascade,
  constraint settings_tenant_fkey foreign key (project_id, tenant_id)
    references tenants (project_id, id) on delete cascade,
  constraint settings_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade,
  constraint settings_tenant2application_fkey foreign key (tenant_id, application_id)
    references tenant2applications (tenant_id, application_id) on delete cascade
);
create unique index settings_project_key on settings (project_id) where tenant_id is null and application_id is null;
create index settings_application_idx on settings (application_id, tenant_id);

-- They run with the rights of whoever migrates: releases that know nothing of this table make owners too.
create function settings_of_project() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into settings (project_id) values (new.id);
  return null;
end
$$;
create function settings_of_tenant() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into settings (project_id, tenant_id) values (new.project_id, new.id);
  return null;
end
$$;
create function settings_of_application() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into settings (project_id, application_id) values (new.project_id, new.id);
  return null;
end
$$;
create trigger projects_settings after insert on projects
  for each row execute function settings_of_project();
create trigger tenants_settings after insert on tenants
  for each row execute function settings_of_tenant();
create trigger applications_settings after insert on applications
  for each row execute function settings_of_application();

create table language_packs (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  content jsonb not null default '[]',
  content_bytes integer not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint language_packs_pkey primary key (id),
  constraint language_packs_name_form check (name ~ '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$' and char_length(name) <= 35),
  constraint language_packs_project_fkey foreign key (project_id) references projects (id) on delete cascade
);
-- Locales are compared without regard to case.
create unique index language_packs_project_id_name_key on language_packs (project_id, lower(name));
