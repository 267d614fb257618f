-- Why: the audit trail. One hash chain per project and one for the system (chain_id all zero). Rows outlive their
-- project on purpose, so nothing here has a foreign key. The database itself refuses to change or remove a row.

create table audit_chains (
  chain_id uuid not null,
  seq bigint not null,
  hash bytea not null,
  checkpointed_seq bigint not null default 0,
  constraint audit_chains_pkey primary key (chain_id)
);
-- The checkpoint job reads only the chains that moved, never all of them.
create index audit_chains_moved_idx on audit_chains (chain_id) where seq > checkpointed_seq;

create table audit_logs (
  chain_id uuid not null,
  seq bigint not null,
  id uuid not null,
  entity_type text not null,
  entity_id text not null,
  action text not null,
  description text not null,
  metadata jsonb not null,
  changes jsonb not null,
  user_id uuid,
  ip_address text not null,
  user_agent text not null,
  created_at timestamptz(3) not null,
  prev_hash bytea not null,
  hash bytea not null,
  constraint audit_logs_pkey primary key (chain_id, seq),
  constraint audit_logs_id_key unique (id),
  constraint audit_logs_seq_positive check (seq > 0)
);
create index audit_logs_entity_idx on audit_logs (chain_id, entity_id, seq);
create index audit_logs_user_idx on audit_logs (chain_id, user_id, seq);

-- A checkpoint seals the heads of the chains that moved since the one before it; the checkpoints form a chain too.
create table audit_checkpoints (
  seq bigint not null,
  created_at timestamptz(3) not null,
  heads jsonb not null,
  prev_hash bytea not null,
  hash bytea not null,
  signature bytea not null,
  key_id text not null,
  constraint audit_checkpoints_pkey primary key (seq)
);

create function audit_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit rows are append-only: % on % is refused', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;

create trigger audit_logs_append_only before update or delete or truncate on audit_logs
  for each statement execute function audit_refuse_change();
create trigger audit_checkpoints_append_only before update or delete or truncate on audit_checkpoints
  for each statement execute function audit_refuse_change();
