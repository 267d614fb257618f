-- Why: pilets. Packages are immutable and signed; their bytes are kept once, under their SHA-256, in the database or in a
-- bucket. What refers to no bytes any more is found without reading the rest.

-- Every blob there is, wherever its bytes are kept. `unreferenced_since` is null as long as a package has it. One that is
-- being removed takes no new package: its bytes may go at any moment. `generation` is part of the name its bytes have in a
-- bucket: a removal that a bucket carries out late meets no bytes that were stored again since.
create table blobs (
  sha256 text collate "C" not null,
  generation uuid not null default gen_random_uuid(),
  size integer not null,
  store text not null,
  unreferenced_since timestamptz default clock_timestamp(),
  removing boolean not null default false,
  constraint blobs_pkey primary key (sha256),
  constraint blobs_sha256_form check (sha256 ~ '^[0-9a-f]{64}$'),
  constraint blobs_size_range check (size >= 0),
  constraint blobs_store_form check (store in ('postgres', 's3')),
  constraint blobs_removing_unreferenced check (not removing or unreferenced_since is not null)
);
create index blobs_unreferenced_idx on blobs (unreferenced_since) where unreferenced_since is not null;

-- The bytes of blobs that are kept in the database. They do not compress, and are read whole.
create table blob_chunks (
  sha256 text collate "C" not null,
  position integer not null,
  bytes bytea not null,
  constraint blob_chunks_pkey primary key (sha256, position),
  constraint blob_chunks_blob_fkey foreign key (sha256) references blobs (sha256) on delete cascade
);
alter table blob_chunks alter column bytes set storage external;

-- Private keys are sealed. A key that no longer signs still verifies what it has signed.
create table pilet_signing_keys (
  id uuid not null,
  key_id text collate "C" not null,
  public_key bytea not null,
  private_key bytea not null,
  is_active boolean not null default false,
  created_at timestamptz(3) not null default now(),
  activated_at timestamptz(3),
  constraint pilet_signing_keys_pkey primary key (id),
  constraint pilet_signing_keys_key_id_key unique (key_id),
  constraint pilet_signing_keys_key_id_form check (key_id ~ '^[0-9a-f]{16}$'),
  constraint pilet_signing_keys_public_key_length check (octet_length(public_key) = 32)
);
create unique index pilet_signing_keys_one_active on pilet_signing_keys (is_active) where is_active;

-- `precedence` is the version in a form whose bytes sort as versions do. A version without a signature is older than
-- signing.
create table pilet_packages (
  id uuid not null,
  project_id uuid not null,
  name text collate "C" not null,
  version text collate "C" not null,
  precedence text collate "C" not null,
  is_stable boolean not null,
  description text not null default '',
  content_type text not null,
  size integer not null,
  hash text collate "C" not null,
  spec text not null,
  signature bytea,
  key_id text collate "C",
  enabled boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint pilet_packages_pkey primary key (id),
  constraint pilet_packages_version_key unique (project_id, name, version),
  constraint pilet_packages_project_fkey foreign key (project_id) references projects (id) on delete cascade,
  constraint pilet_packages_hash_fkey foreign key (hash) references blobs (sha256),
  constraint pilet_packages_key_id_fkey foreign key (key_id) references pilet_signing_keys (key_id),
  constraint pilet_packages_name_length check (char_length(name) between 1 and 214),
  constraint pilet_packages_version_length check (char_length(version) between 5 and 256),
  constraint pilet_packages_description_length check (char_length(description) <= 1000),
  constraint pilet_packages_content_type_length check (char_length(content_type) <= 100),
  constraint pilet_packages_spec_form check (spec ~ '^v[0-9]{1,3}$'),
  constraint pilet_packages_signature_whole check ((signature is null) = (key_id is null)),
  constraint pilet_packages_signature_length check (octet_length(signature) = 64)
) with (fillfactor = 80);
-- A feed takes the last enabled row of each name: stable versions come after all others, then the higher ones.
create index pilet_packages_feed_idx on pilet_packages (project_id, name, is_stable, precedence, version) where enabled;
-- Lists are in this order.
create index pilet_packages_list_idx on pilet_packages (project_id, name, precedence, version);
create index pilet_packages_hash_idx on pilet_packages (hash);
create index pilet_packages_key_id_idx on pilet_packages (key_id, id);
create index pilet_packages_unsigned_idx on pilet_packages (id) where key_id is null;
create trigger pilet_packages_version after insert or update or delete on pilet_packages
  for each row execute function project_versions_note();

-- What a project's packages come to, so that its quota is checked by one row. A version that is disabled still counts.
create table pilet_usage (
  project_id uuid not null,
  packages bigint not null,
  bytes bigint not null,
  constraint pilet_usage_pkey primary key (project_id),
  constraint pilet_usage_project_fkey foreign key (project_id) references projects (id) on delete cascade
) with (fillfactor = 50);

-- Packages go with their project; bytes that nothing else refers to may go too, later. Runs with the rights of whoever
-- migrates. The locks let two that delete the last two packages of a blob come one after the other, and are taken in one
-- order, so that two projects with the same blobs can be deleted at the same time.
create function blobs_note_unreferenced() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  -- An array, and a subquery that stays one: each blob is looked up by index, whatever the planner knows of the tables.
  hashes text[] := array(select distinct hash from gone);
begin
  perform from blobs where sha256 = any(hashes) order by sha256 for no key update;
  update blobs set unreferenced_since = clock_timestamp()
  where sha256 = any(hashes) and unreferenced_since is null
    and not exists (select from pilet_packages p where p.hash = blobs.sha256 offset 0);
  return null;
end
$$;
revoke all on function blobs_note_unreferenced() from public;
create trigger pilet_packages_blob after delete on pilet_packages referencing old table as gone
  for each statement execute function blobs_note_unreferenced();

-- Which tenants of a project have a module in their own settings: a bundle is served when any of them loads it.
create function settings_modules(project_id uuid, config jsonb) returns text[] language sql immutable
  set search_path = pg_catalog, pg_temp as $$
  select coalesce(array_agg(project_id || ' ' || module), '{}')
  from jsonb_array_elements_text(
    case when jsonb_typeof(config -> 'EnabledModules') = 'array' then config -> 'EnabledModules' else '[]' end
  ) module
$$;
create index settings_tenant_modules_idx on settings using gin (settings_modules(project_id, backend_module_config))
  where tenant_id is not null;

-- The pins of a tenant, which settings keep as a text. One that the database cannot read pins nothing: a statement that
-- failed on it would fail for the others that share it.
create function pilet_pins(value text) returns jsonb language plpgsql immutable
  set search_path = pg_catalog, pg_temp as $$
begin
  return case when jsonb_typeof(value::jsonb) = 'object' then value::jsonb end;
exception when others then
  return null;
end
$$;
