-- Why: installs that are older than these migrations come over by an import. What became of each of their rows is kept for
-- good: it maps old ids to new ones, accounts for every row, and lets an import that was interrupted go on.

-- The one old install of this database: what its rows were when its import began. An import of other rows is refused.
create table legacy_imports (
  only_row boolean not null default true,
  -- Per view: how many rows it has, and a fingerprint of them.
  source jsonb not null,
  -- Which environment each type of tenant became.
  types jsonb not null,
  started_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  constraint legacy_imports_pkey primary key (only_row),
  constraint legacy_imports_one_row check (only_row)
);

create table legacy_rows (
  view text collate "C" not null,
  old_id text collate "C" not null,
  outcome text not null,
  -- The row that stands for it now; null for one that was kept aside.
  new_id uuid,
  -- The rules that decided, where it was not taken over as it was.
  rules text[] not null default '{}',
  -- What could not be taken over; never a credential.
  detail jsonb not null default '{}',
  constraint legacy_rows_pkey primary key (view, old_id),
  constraint legacy_rows_outcome_known check (outcome in ('moved', 'merged', 'kept_aside')),
  constraint legacy_rows_new_id_known check ((new_id is null) = (outcome = 'kept_aside')),
  constraint legacy_rows_kept_for_a_reason check (outcome <> 'kept_aside' or cardinality(rules) > 0)
);

-- Tokens of an old install do not end in a check that our key made, so they cannot be told from forged ones without a look.
alter table personal_access_tokens add column has_check boolean not null default true;
create index personal_access_tokens_unchecked_idx on personal_access_tokens (id) where not has_check;
