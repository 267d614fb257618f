-- Why: a change in a project made every answer kept for it be built again, whatever had changed. Versions are now kept by
-- project and table, so that an answer is built again only when a table it is built from has changed.

-- For each table the mark of the last transaction that changed a row of the project in it; no two transactions leave the
-- same one. One row per project: whoever changes several tables waits for one lock, in no order that others could cross.
-- Rows outlive their project: what is kept of it elsewhere must find that it has changed.
create table project_versions (
  project_id uuid not null,
  versions jsonb not null,
  constraint project_versions_pkey primary key (project_id)
) with (fillfactor = 50);

-- What a transaction under way has changed; empty for everybody else. A mark is the transaction's number and its time: the
-- number alone may come again after a backup is restored.
create table project_version_moves (
  mark text not null,
  project_id uuid not null,
  table_name text not null,
  constraint project_version_moves_pkey primary key (mark, project_id, table_name)
);

-- Both functions run with the rights of whoever migrates: releases that know nothing of these tables change the others too.
create function project_versions_note() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- Which project this transaction has noted last: the next of a thousand rows need not look.
  last_noted text := 'manager.noted_' || tg_table_name;
  project uuid;
begin
  foreach project in array array[old.project_id, new.project_id] loop
    if project is null or current_setting(last_noted, true) = pg_current_xact_id()::text || project then
      continue;
    end if;
    insert into public.project_version_moves (mark, project_id, table_name)
    values (pg_current_xact_id() || '.' || to_hex((extract(epoch from now()) * 1000000)::bigint), project, tg_table_name)
    on conflict do nothing;
    perform set_config(last_noted, pg_current_xact_id()::text || project, true);
  end loop;
  return null;
end
$$;

-- Runs at the commit, after everything else the transaction does, so that it holds its lock for a moment only.
create function project_versions_move() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.project_versions as v (project_id, versions)
  values (new.project_id, jsonb_build_object(new.table_name, new.mark))
  on conflict (project_id) do update set versions = v.versions || excluded.versions;
  delete from public.project_version_moves m
  where m.mark = new.mark and m.project_id = new.project_id and m.table_name = new.table_name;
  return null;
end
$$;
revoke all on function project_versions_note(), project_versions_move() from public;
create constraint trigger project_version_moves_at_commit after insert on project_version_moves
  deferrable initially deferred for each row execute function project_versions_move();

create trigger applications_version after insert or update or delete on applications
  for each row execute function project_versions_note();
create trigger tenants_version after insert or update or delete on tenants
  for each row execute function project_versions_note();
create trigger tenant2applications_version after insert or update or delete on tenant2applications
  for each row execute function project_versions_note();
create trigger user2projects_version after insert or update or delete on user2projects
  for each row execute function project_versions_note();
create trigger user2tenants_version after insert or update or delete on user2tenants
  for each row execute function project_versions_note();
create trigger user2applications_version after insert or update or delete on user2applications
  for each row execute function project_versions_note();
create trigger tenant_role_definitions_version after insert or update or delete on tenant_role_definitions
  for each row execute function project_versions_note();
create trigger settings_version after insert or update or delete on settings
  for each row execute function project_versions_note();
create trigger language_packs_version after insert or update or delete on language_packs
  for each row execute function project_versions_note();
create trigger endpoints_version after insert or update or delete on endpoints
  for each row execute function project_versions_note();
create trigger machine_user2endpoints_version after insert or update or delete on machine_user2endpoints
  for each row execute function project_versions_note();
