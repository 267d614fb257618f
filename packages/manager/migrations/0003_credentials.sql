-- Why: credentials. Only hashes are kept: PBKDF2 for personal access tokens and passwords (low or unknown entropy), and
-- SHA-256 for machine tokens (32 random bytes, so a fast hash is enough and serves as the lookup key).

create table personal_access_tokens (
  id uuid not null,
  user_id uuid not null,
  name text not null,
  token_prefix text not null,
  hash text not null,
  expires_at timestamptz(3),
  revoked boolean not null default false,
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint personal_access_tokens_pkey primary key (id),
  constraint personal_access_tokens_token_prefix_key unique (token_prefix),
  constraint personal_access_tokens_name_length check (char_length(name) between 1 and 100),
  constraint personal_access_tokens_token_prefix_form check (token_prefix ~ '^[0-9A-Za-z]{8}$'),
  constraint personal_access_tokens_hash_form check (hash like '$pbkdf2-sha256$%'),
  constraint personal_access_tokens_user_fkey foreign key (user_id) references users (id)
) with (fillfactor = 80);
create index personal_access_tokens_user_idx on personal_access_tokens (user_id, id);

create table machine_users (
  id uuid not null,
  project_id uuid not null,
  environment_id uuid not null,
  name text not null,
  username text not null,
  enabled boolean not null,
  -- A machine user has a token or a password, never both, and stays of that kind.
  token_prefix text,
  token_hash bytea,
  password_hash text,
  last_rotated_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint machine_users_pkey primary key (id),
  constraint machine_users_project_id_id_key unique (project_id, id),
  constraint machine_users_token_hash_key unique (token_hash),
  constraint machine_users_name_length check (char_length(name) between 1 and 100),
  constraint machine_users_username_length check (char_length(username) between 1 and 100),
  constraint machine_users_one_credential check (num_nonnulls(token_hash, password_hash) = 1),
  constraint machine_users_token_complete check (
    (token_hash is null) = (token_prefix is null)
    and (token_hash is null or (octet_length(token_hash) = 32 and username = 'Bearer:' || token_prefix))),
  constraint machine_users_password_form check (password_hash like '$pbkdf2-sha256$%'),
  constraint machine_users_environment_fkey foreign key (project_id, environment_id)
    references environments (project_id, id) on delete cascade
);
create index machine_users_environment_idx on machine_users (environment_id, id);
-- Proxies present a Basic username together with an application, which names the project.
create unique index machine_users_basic_username_key on machine_users (project_id, username)
  where password_hash is not null;
