-- Why: maintainers can add only people who have signed in before. An invitation is a link that lets one other person join
-- a project, a tenant or an application with a role.

create table invitations (
  id uuid not null,
  project_id uuid not null,
  -- An invitation to a tenant or to an application. Without either, it is an invitation to the project.
  tenant_id uuid,
  application_id uuid,
  email text not null,
  -- A project role, the name of a tenant role, or an application role.
  role text not null,
  require_same_email boolean not null,
  -- SHA-256 of the token in the link. The token itself is not stored.
  token_hash bytea not null,
  inviter_id uuid not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  acceptor_id uuid,
  revoked_at timestamptz(3),
  updated_at timestamptz(3) not null default now(),
  revision integer not null default 1,
  ended_at timestamptz(3) not null generated always as (coalesce(accepted_at, revoked_at, expires_at)) stored,
  constraint invitations_pkey primary key (id),
  constraint invitations_project_id_key unique (project_id, id),
  constraint invitations_token_hash_key unique (token_hash),
  constraint invitations_one_target check (tenant_id is null or application_id is null),
  constraint invitations_email_length check (char_length(email) between 3 and 320),
  constraint invitations_role_length check (char_length(role) between 1 and 100),
  constraint invitations_token_hash_length check (octet_length(token_hash) = 32),
  constraint invitations_accepted_by_somebody check ((accepted_at is null) = (acceptor_id is null)),
  constraint invitations_one_end check (accepted_at is null or revoked_at is null),
  constraint invitations_project_fkey foreign key (project_id) references projects (id) on delete cascade,
  constraint invitations_tenant_fkey foreign key (project_id, tenant_id)
    references tenants (project_id, id) on delete cascade,
  constraint invitations_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade,
  -- Applies only to tenants. A deleted role must not be granted, even if another role gets its name.
  constraint invitations_tenant_role_fkey foreign key (tenant_id, role)
    references tenant_role_definitions (tenant_id, name) on update cascade on delete cascade,
  constraint invitations_inviter_fkey foreign key (inviter_id) references users (id),
  constraint invitations_acceptor_fkey foreign key (acceptor_id) references users (id)
);
create index invitations_tenant_idx on invitations (tenant_id, id) where tenant_id is not null;
create index invitations_application_idx on invitations (application_id, id) where application_id is not null;
-- The open invitations of a project, which are counted for every new one.
create index invitations_open_idx on invitations (project_id, expires_at)
  where accepted_at is null and revoked_at is null;
-- The latest invitations of an inviter, whose number in an hour is limited.
create index invitations_inviter_idx on invitations (inviter_id, created_at);
create index invitations_ended_idx on invitations (ended_at);

-- A renamed tenant role changes the invitations that name it, without their updated_at.
create trigger invitations_revision before update of updated_at, role on invitations
  for each row execute function revisions_next();
