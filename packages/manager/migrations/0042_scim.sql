-- Why: identity providers create people before their first sign-in, keep their names up to date, and end their access when they
-- leave. Until now the Manager learned of a person at the first sign-in, and could not end the access of one person.

-- The identity provider and an administrator deactivate a person independently. Neither lifts the deactivation of the other.
alter table users
  add column is_provisioned boolean not null default false,
  add column deactivated_by_scim_at timestamptz(3),
  add column deactivated_by_administrator_at timestamptz(3);
-- Every process reads the recent deactivations, and closes the websockets of these people.
create index users_deactivated_idx on users (greatest(deactivated_by_scim_at, deactivated_by_administrator_at))
  where greatest(deactivated_by_scim_at, deactivated_by_administrator_at) is not null;

-- Returns the addresses in lower case. The index contains them, and comparisons ignore case.
create function scim_email_values(emails jsonb) returns text[] language sql immutable
  set search_path = pg_catalog, pg_temp as $$
  select coalesce(array_agg(lower(email ->> 'value')), '{}') from jsonb_array_elements(emails) email
$$;

-- The attributes that identity providers wrote. The id is that of the user. A row is deleted over SCIM; its user stays.
create table scim_users (
  user_id uuid not null,
  user_name text not null,
  external_id text,
  display_name text,
  formatted_name text,
  given_name text,
  family_name text,
  -- A list of objects with value, type, primary and display.
  emails jsonb not null default '[]',
  email_values text[] not null generated always as (scim_email_values(emails)) stored,
  active boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  revision integer not null default 1,
  constraint scim_users_pkey primary key (user_id),
  constraint scim_users_user_name_length check (char_length(user_name) between 1 and 320),
  constraint scim_users_external_id_length check (char_length(external_id) between 1 and 320),
  constraint scim_users_display_name_length check (char_length(display_name) between 1 and 200),
  constraint scim_users_formatted_name_length check (char_length(formatted_name) between 1 and 200),
  constraint scim_users_given_name_length check (char_length(given_name) between 1 and 200),
  constraint scim_users_family_name_length check (char_length(family_name) between 1 and 200),
  constraint scim_users_emails_list check (jsonb_typeof(emails) = 'array' and jsonb_array_length(emails) <= 20),
  constraint scim_users_user_fkey foreign key (user_id) references users (id)
);
-- The operator class serves prefixes, too.
create unique index scim_users_user_name_key on scim_users (lower(user_name) text_pattern_ops);
create index scim_users_external_id_idx on scim_users (external_id text_pattern_ops) where external_id is not null;
create index scim_users_email_values_idx on scim_users using gin (email_values);
create index scim_users_updated_at_idx on scim_users (updated_at, user_id);
create trigger scim_users_revision before update of updated_at on scim_users
  for each row execute function revisions_next();

create table scim_tokens (
  id uuid not null,
  name text not null,
  token_prefix text not null,
  -- SHA-256 of the token, which contains 32 random bytes.
  token_hash bytea not null,
  creator_id uuid not null,
  expires_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  revision integer not null default 1,
  constraint scim_tokens_pkey primary key (id),
  constraint scim_tokens_token_hash_key unique (token_hash),
  constraint scim_tokens_name_length check (char_length(name) between 1 and 100),
  constraint scim_tokens_token_prefix_form check (token_prefix ~ '^scim_[A-Za-z0-9_-]{8}$'),
  constraint scim_tokens_token_hash_length check (octet_length(token_hash) = 32),
  constraint scim_tokens_creator_fkey foreign key (creator_id) references users (id)
);
create index scim_tokens_name_idx on scim_tokens (name, id);
create trigger scim_tokens_revision before update of updated_at on scim_tokens
  for each row execute function revisions_next();
