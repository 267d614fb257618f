-- Why: an installation has one master key. The database holds its id from the first use, so that a process or a command
-- with another key is refused before it signs or seals anything. Keys that an exchange retired are kept, sealed, so that
-- tokens issued and checkpoints signed with them still verify.

create table installation (
  singleton boolean not null default true,
  master_key_id text not null,
  constraint installation_pkey primary key (singleton),
  constraint installation_singleton check (singleton),
  constraint installation_master_key_id_form check (master_key_id ~ '^[0-9a-f]{16}$')
);

create table retired_keys (
  id uuid not null,
  purpose text not null,
  sealed bytea not null,
  retired_at timestamptz(3) not null default now(),
  constraint retired_keys_pkey primary key (id),
  constraint retired_keys_purpose check (purpose in ('access-token-check', 'audit-checkpoint'))
);
