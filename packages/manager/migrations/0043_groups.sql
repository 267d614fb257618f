-- Why: organizations keep who belongs to a team in their directory. Identity providers send these groups over SCIM, and rules of
-- administrators give the members roles. Until now every role had to be given to each person.

-- Lists show the number of members without counting them. Every change of the members also changes `member_changes`, so the
-- revision increases even if the number stays the same.
create table scim_groups (
  id uuid not null,
  display_name text not null,
  external_id text,
  member_count integer not null default 0,
  member_changes bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  revision integer not null default 1,
  constraint scim_groups_pkey primary key (id),
  constraint scim_groups_display_name_length check (char_length(display_name) between 1 and 200),
  constraint scim_groups_external_id_length check (char_length(external_id) between 1 and 320),
  constraint scim_groups_member_count_limit check (member_count between 0 and 50000)
);
-- Rules are chosen by the name of a group, so no two groups share it.
create unique index scim_groups_display_name_key on scim_groups (lower(display_name) text_pattern_ops);
create index scim_groups_external_id_idx on scim_groups (external_id text_pattern_ops) where external_id is not null;
create index scim_groups_name_idx on scim_groups (display_name, id);
create trigger scim_groups_revision before update of updated_at on scim_groups
  for each row execute function revisions_next();

create table scim_group_members (
  id uuid not null default gen_random_uuid(),
  group_id uuid not null,
  user_id uuid not null,
  constraint scim_group_members_pkey primary key (id),
  constraint scim_group_members_member_key unique (group_id, user_id),
  constraint scim_group_members_group_fkey foreign key (group_id) references scim_groups (id) on delete cascade,
  constraint scim_group_members_user_fkey foreign key (user_id) references scim_users (user_id)
);
create index scim_group_members_user_idx on scim_group_members (user_id, group_id);

-- The role is a project role, the name of a tenant role, or an application role.
create table group_rules (
  id uuid not null,
  project_id uuid not null,
  group_id uuid not null,
  tenant_id uuid,
  application_id uuid,
  role text not null,
  creator_id uuid not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  revision integer not null default 1,
  constraint group_rules_pkey primary key (id),
  constraint group_rules_project_key unique (project_id, id),
  constraint group_rules_object_key unique nulls not distinct (group_id, project_id, tenant_id, application_id),
  constraint group_rules_object_one check (tenant_id is null or application_id is null),
  constraint group_rules_role_length check (char_length(role) between 1 and 100),
  constraint group_rules_project_fkey foreign key (project_id) references projects (id) on delete cascade,
  constraint group_rules_tenant_fkey foreign key (project_id, tenant_id) references tenants (project_id, id) on delete cascade,
  constraint group_rules_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade,
  -- Applies only to tenants.
  constraint group_rules_tenant_role_fkey foreign key (tenant_id, role)
    references tenant_role_definitions (tenant_id, name) on update cascade,
  constraint group_rules_group_fkey foreign key (group_id) references scim_groups (id) on delete cascade,
  constraint group_rules_creator_fkey foreign key (creator_id) references users (id)
);
create index group_rules_tenant_idx on group_rules (project_id, tenant_id) where tenant_id is not null;
create index group_rules_application_idx on group_rules (project_id, application_id) where application_id is not null;
create index group_rules_tenant_role_idx on group_rules (tenant_id, role) where tenant_id is not null;
create index group_rules_creator_idx on group_rules (creator_id);
create trigger group_rules_revision before update of updated_at, role on group_rules
  for each row execute function revisions_next();

-- The rule that gives the role. Null if the role was given directly, as in all rows of older releases. A rule that disappears
-- takes its roles with it. Without `not valid`, the constraints would read all rows, which have no rule yet. `migrate up` builds
-- the indexes on the column afterwards, without blocking writers.
alter table user2projects add column group_rule_id uuid,
  add constraint user2projects_group_rule_fkey foreign key (project_id, group_rule_id)
    references group_rules (project_id, id) on delete cascade not valid;
alter table user2tenants add column group_rule_id uuid,
  add constraint user2tenants_group_rule_fkey foreign key (project_id, group_rule_id)
    references group_rules (project_id, id) on delete cascade not valid;
alter table user2applications add column group_rule_id uuid,
  add constraint user2applications_group_rule_fkey foreign key (project_id, group_rule_id)
    references group_rules (project_id, id) on delete cascade not valid;
