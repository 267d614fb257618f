-- Why: two people who edit the same object overwrite each other without noticing. Every object that people manage now
-- counts its changes, and a caller can name the revision that a change is based on.

-- Every management update sets updated_at. Updates that do not, such as the next firing of a trigger or the last use of
-- a token, are no revision of the object.
create function revisions_next() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.revision := old.revision + 1;
  if new.updated_at = old.updated_at then
    new.updated_at := now();
  end if;
  return new;
end
$$;
revoke all on function revisions_next() from public;

alter table environments add column updated_at timestamptz(3) not null default now();
alter table personal_access_tokens add column updated_at timestamptz(3) not null default now();

alter table users add column revision integer not null default 1;
alter table projects add column revision integer not null default 1;
alter table environments add column revision integer not null default 1;
alter table tenants add column revision integer not null default 1;
alter table applications add column revision integer not null default 1;
alter table tenant2applications add column revision integer not null default 1;
alter table user2projects add column revision integer not null default 1;
alter table user2tenants add column revision integer not null default 1;
alter table user2applications add column revision integer not null default 1;
alter table tenant_role_definitions add column revision integer not null default 1;
alter table personal_access_tokens add column revision integer not null default 1;
alter table machine_users add column revision integer not null default 1;
alter table settings add column revision integer not null default 1;
alter table language_packs add column revision integer not null default 1;
alter table endpoints add column revision integer not null default 1;
alter table machine_user2endpoints add column revision integer not null default 1;
alter table triggers add column revision integer not null default 1;
alter table pilet_packages add column revision integer not null default 1;
alter table deployment_specifications add column revision integer not null default 1;

create trigger users_revision before update of updated_at on users
  for each row execute function revisions_next();
create trigger projects_revision before update of updated_at on projects
  for each row execute function revisions_next();
create trigger tenants_revision before update of updated_at on tenants
  for each row execute function revisions_next();
create trigger applications_revision before update of updated_at on applications
  for each row execute function revisions_next();
create trigger tenant2applications_revision before update of updated_at on tenant2applications
  for each row execute function revisions_next();
create trigger user2projects_revision before update of updated_at on user2projects
  for each row execute function revisions_next();
-- A renamed role changes the memberships that name it, without their updated_at.
create trigger user2tenants_revision before update of updated_at, role_name on user2tenants
  for each row execute function revisions_next();
create trigger user2applications_revision before update of updated_at on user2applications
  for each row execute function revisions_next();
create trigger tenant_role_definitions_revision before update of updated_at on tenant_role_definitions
  for each row execute function revisions_next();
create trigger personal_access_tokens_revision before update of revoked on personal_access_tokens
  for each row execute function revisions_next();
create trigger machine_users_revision before update of updated_at on machine_users
  for each row execute function revisions_next();
create trigger settings_revision before update of updated_at on settings
  for each row execute function revisions_next();
create trigger language_packs_revision before update of updated_at on language_packs
  for each row execute function revisions_next();
create trigger endpoints_revision before update of updated_at on endpoints
  for each row execute function revisions_next();
create trigger machine_user2endpoints_revision before update of updated_at on machine_user2endpoints
  for each row execute function revisions_next();
create trigger triggers_revision before update of updated_at on triggers
  for each row execute function revisions_next();
create trigger pilet_packages_revision before update of updated_at on pilet_packages
  for each row execute function revisions_next();
create trigger deployment_specifications_revision before update of updated_at on deployment_specifications
  for each row execute function revisions_next();
