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

-- Runs at the commit, after everything else the transaction does, so that it holds its lock for a moment only. With the
-- rights of whoever migrates: releases that know nothing of this table change the others too.
create function project_versions_move() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- The number of a transaction may come again after a backup is restored; its time does not.
  mark text := pg_current_xact_id() || '.' || to_hex((extract(epoch from now()) * 1000000)::bigint);
  -- Which project this transaction has marked last: the next of a thousand rows need not look.
  last_marked text := 'manager.marked_' || tg_table_name;
  project uuid;
begin
  foreach project in array array[old.project_id, new.project_id] loop
    if project is null or current_setting(last_marked, true) = mark || project then
      continue;
    end if;
    insert into public.project_versions as v (project_id, versions)
    values (project, jsonb_build_object(tg_table_name, mark))
    on conflict (project_id) do update set versions = v.versions || excluded.versions
    where v.versions ->> tg_table_name is distinct from mark;
    perform set_config(last_marked, mark || project, true);
  end loop;
  return null;
end
$$;
revoke all on function project_versions_move() from public;

create constraint trigger applications_version after insert or update or delete on applications
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger tenants_version after insert or update or delete on tenants
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger tenant2applications_version after insert or update or delete on tenant2applications
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger user2projects_version after insert or update or delete on user2projects
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger user2tenants_version after insert or update or delete on user2tenants
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger user2applications_version after insert or update or delete on user2applications
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger tenant_role_definitions_version after insert or update or delete on tenant_role_definitions
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger settings_version after insert or update or delete on settings
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger language_packs_version after insert or update or delete on language_packs
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger endpoints_version after insert or update or delete on endpoints
  deferrable initially deferred for each row execute function project_versions_move();
create constraint trigger machine_user2endpoints_version after insert or update or delete on machine_user2endpoints
  deferrable initially deferred for each row execute function project_versions_move();
