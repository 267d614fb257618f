-- Why: a person at a terminal signs in through the browser. A login waits here between the two, with the token that it ends in.

create table cli_logins (
  id uuid not null,
  -- SHA-256 of what the terminal proves itself with when it polls.
  secret_hash bytea not null,
  user_code text not null,
  -- X25519: the token is sealed to it, and only the terminal opens it.
  public_key bytea not null,
  token_name text not null,
  -- Of the terminal.
  ip_address text not null,
  user_agent text not null,
  -- fetched: the token was handed out, and its response is on its way. undelivered: it never arrived, and was revoked.
  status text not null default 'pending',
  interval_seconds integer not null default 5,
  last_polled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null default now() + interval '15 minutes',
  -- Who decided, and the token that came of it. Neither is a foreign key: deleting a token would lock it before its login,
  -- which everything else here locks first.
  user_id uuid,
  access_token_id uuid,
  sealed_token bytea,
  fetched_at timestamptz(3),
  constraint cli_logins_pkey primary key (id),
  constraint cli_logins_secret_hash_key unique (secret_hash),
  constraint cli_logins_user_code_key unique (user_code),
  constraint cli_logins_secret_hash_size check (octet_length(secret_hash) = 32),
  constraint cli_logins_public_key_size check (octet_length(public_key) = 32),
  constraint cli_logins_user_code_form check (user_code ~ '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$'),
  constraint cli_logins_token_name_length check (char_length(token_name) between 1 and 100),
  constraint cli_logins_ip_address_length check (char_length(ip_address) <= 100),
  constraint cli_logins_user_agent_length check (char_length(user_agent) <= 500),
  constraint cli_logins_status_known
    check (status in ('pending', 'approved', 'denied', 'fetched', 'consumed', 'undelivered')),
  constraint cli_logins_sealed_while_approved check ((sealed_token is not null) = (status = 'approved')),
  constraint cli_logins_sealed_token_size check (octet_length(sealed_token) <= 200)
) with (fillfactor = 80);
create index cli_logins_expiry_idx on cli_logins (expires_at);
-- The few that are looked at to revoke what did not arrive.
create index cli_logins_approved_idx on cli_logins (expires_at) where status = 'approved';
create index cli_logins_fetched_idx on cli_logins (fetched_at) where status = 'fetched';
