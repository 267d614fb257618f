-- Why: the core model. Every row that belongs to a project carries project_id, and links between two such rows use
-- composite foreign keys, so that no code path can join rows of two projects.

create extension if not exists pg_trgm;

create table users (
  id uuid not null,
  external_name text not null default '',
  external_username text not null,
  external_email text not null default '',
  role text not null default 'user',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint users_pkey primary key (id),
  constraint users_role_known check (role in ('user', 'administrator')),
  constraint users_external_name_length check (char_length(external_name) <= 200),
  constraint users_external_username_length check (char_length(external_username) <= 320),
  constraint users_external_email_length check (char_length(external_email) <= 320)
);
-- Substring filters must not read 5x10^7 rows.
create index users_external_name_trgm on users using gin (external_name gin_trgm_ops);
create index users_external_username_trgm on users using gin (external_username gin_trgm_ops);
create index users_external_email_trgm on users using gin (external_email gin_trgm_ops);
-- Searches of one or two characters, which have no trigram, match beginnings.
create index users_external_name_start on users (lower(external_name) text_pattern_ops);
create index users_external_username_start on users (lower(external_username) text_pattern_ops);
create index users_external_email_start on users (lower(external_email) text_pattern_ops);
create index users_external_name_idx on users (external_name, id);
create index users_external_username_idx on users (external_username, id);
create index users_external_email_idx on users (external_email, id);
create index users_administrators_idx on users (id) where role = 'administrator';

create table projects (
  id uuid not null,
  name text not null,
  slug text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint projects_pkey primary key (id),
  constraint projects_slug_key unique (slug),
  constraint projects_name_length check (char_length(name) between 1 and 100),
  constraint projects_slug_form check (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$')
);
create index projects_name_idx on projects (name, id);
create index projects_created_at_idx on projects (created_at, id);

create table environments (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  display_name text not null,
  sort_order integer not null,
  protected boolean not null,
  created_at timestamptz(3) not null default now(),
  constraint environments_pkey primary key (id),
  constraint environments_project_id_id_key unique (project_id, id),
  constraint environments_project_id_name_key unique (project_id, name),
  constraint environments_name_known check (name in ('dev', 'qas', 'run')),
  constraint environments_project_fkey foreign key (project_id) references projects (id) on delete cascade
);

create table tenants (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  slug text not null,
  deployment_mode text not null default 'shared',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint tenants_pkey primary key (id),
  constraint tenants_project_id_id_key unique (project_id, id),
  constraint tenants_project_id_slug_key unique (project_id, slug),
  constraint tenants_name_length check (char_length(name) between 1 and 100),
  constraint tenants_slug_form check (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'),
  constraint tenants_deployment_mode_known check (deployment_mode in ('shared', 'dedicated')),
  constraint tenants_project_fkey foreign key (project_id) references projects (id) on delete cascade
);
create index tenants_project_id_name_idx on tenants (project_id, name, id);
create index tenants_name_trgm on tenants using gin (name gin_trgm_ops);

create table applications (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  slug text not null,
  description text not null default '',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint applications_pkey primary key (id),
  constraint applications_project_id_id_key unique (project_id, id),
  constraint applications_project_id_slug_key unique (project_id, slug),
  constraint applications_name_length check (char_length(name) between 1 and 100),
  constraint applications_description_length check (char_length(description) <= 2000),
  constraint applications_slug_form check (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'),
  constraint applications_project_fkey foreign key (project_id) references projects (id) on delete cascade
);
create index applications_project_id_name_idx on applications (project_id, name, id);
create index applications_name_trgm on applications using gin (name gin_trgm_ops);

create table tenant2applications (
  id uuid not null,
  project_id uuid not null,
  tenant_id uuid not null,
  application_id uuid not null,
  enabled boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint tenant2applications_pkey primary key (id),
  constraint tenant2applications_project_id_id_key unique (project_id, id),
  constraint tenant2applications_pair_key unique (tenant_id, application_id),
  constraint tenant2applications_tenant_fkey foreign key (project_id, tenant_id)
    references tenants (project_id, id) on delete cascade,
  constraint tenant2applications_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade
);
create index tenant2applications_application_idx on tenant2applications (application_id, id);

create table user2projects (
  id uuid not null,
  project_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint user2projects_pkey primary key (id),
  constraint user2projects_member_key unique (project_id, user_id),
  constraint user2projects_role_known check (role in ('readonly', 'tester', 'developer', 'maintainer', 'owner')),
  constraint user2projects_project_fkey foreign key (project_id) references projects (id) on delete cascade,
  constraint user2projects_user_fkey foreign key (user_id) references users (id)
);
create index user2projects_user_idx on user2projects (user_id, project_id);

create table tenant_role_definitions (
  id uuid not null,
  project_id uuid not null,
  tenant_id uuid not null,
  name text not null,
  permissions text[] not null,
  seeded boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint tenant_role_definitions_pkey primary key (id),
  constraint tenant_role_definitions_name_key unique (tenant_id, name),
  constraint tenant_role_definitions_name_length check (char_length(name) between 1 and 100),
  constraint tenant_role_definitions_permissions_known
    check (permissions <@ array['apps.read', 'apps.configure', 'members', 'invites']),
  constraint tenant_role_definitions_tenant_fkey foreign key (project_id, tenant_id)
    references tenants (project_id, id) on delete cascade
);

create table user2tenants (
  id uuid not null,
  project_id uuid not null,
  tenant_id uuid not null,
  user_id uuid not null,
  role_name text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint user2tenants_pkey primary key (id),
  constraint user2tenants_member_key unique (tenant_id, user_id),
  constraint user2tenants_tenant_fkey foreign key (project_id, tenant_id)
    references tenants (project_id, id) on delete cascade,
  constraint user2tenants_role_fkey foreign key (tenant_id, role_name)
    references tenant_role_definitions (tenant_id, name) on update cascade,
  constraint user2tenants_user_fkey foreign key (user_id) references users (id)
);
create index user2tenants_user_idx on user2tenants (user_id, project_id, tenant_id);
create index user2tenants_role_idx on user2tenants (tenant_id, role_name);

create table user2applications (
  id uuid not null,
  project_id uuid not null,
  application_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint user2applications_pkey primary key (id),
  constraint user2applications_member_key unique (application_id, user_id),
  constraint user2applications_role_known check (role in ('readonly', 'normal')),
  constraint user2applications_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade,
  constraint user2applications_user_fkey foreign key (user_id) references users (id)
);
create index user2applications_user_idx on user2applications (user_id, project_id, application_id);

-- The oldest migration a release must know to run on this schema. A migration that removes what older releases use
-- raises it; one that only adds does not, so that two releases run side by side while replicas are rolled.
create table schema_compatibility (
  only_row boolean not null default true,
  oldest_migration text not null,
  constraint schema_compatibility_pkey primary key (only_row),
  constraint schema_compatibility_one_row check (only_row)
);
insert into schema_compatibility (oldest_migration) values ('0001_core');
