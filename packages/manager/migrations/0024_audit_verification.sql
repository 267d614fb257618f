-- Why: verification of the audit trail goes on from where it ended, so its cost depends on the rows that are new. What is
-- noted here carries a keyed MAC: whoever owns the database can delete a mark, which only costs work, but not move it on.

-- How far the checkpoints are verified, for the first time and again, and who is at it. One row.
create table audit_verification (
  id boolean not null default true,
  checkpoint_seq bigint not null,
  checkpoint_hash bytea not null,
  round bigint not null,
  round_seq bigint not null,
  round_hash bytea not null,
  problem text,
  mac bytea not null,
  verified_at timestamptz(3) not null default now(),
  lease_id uuid,
  leased_until timestamptz(3) not null default 'epoch',
  constraint audit_verification_pkey primary key (id),
  constraint audit_verification_one_row check (id)
);

-- How far each chain is verified: by the pass over what is new, and by the one that reads everything again, round by round.
create table audit_verified_chains (
  pass text not null,
  chain_id uuid not null,
  round bigint not null,
  seq bigint not null,
  hash bytea not null,
  checkpoint_seq bigint not null,
  broken_seq bigint,
  reason text,
  mac bytea not null,
  constraint audit_verified_chains_pkey primary key (pass, chain_id),
  constraint audit_verified_chains_pass check (pass in ('new', 'again')),
  constraint audit_verified_chains_finding check ((broken_seq is null) = (reason is null))
);
create index audit_verified_chains_broken_idx on audit_verified_chains (chain_id) where broken_seq is not null;

-- Up to which checkpoint copies are in the bucket.
create table audit_checkpoint_copies (
  sink text not null,
  seq bigint not null,
  mac bytea not null,
  constraint audit_checkpoint_copies_pkey primary key (sink)
);
