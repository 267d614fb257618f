-- Why: somebody answers regularly for all the access that there is. That needs to know when principals were last active, which
-- reports were read, and what was attested of them.

-- Beside users and machine_users, whose rows have versions that caches compare: activity is no change of either.
create table user_activity (
  user_id uuid not null,
  last_active_at timestamptz(3) not null,
  constraint user_activity_pkey primary key (user_id),
  constraint user_activity_user_fkey foreign key (user_id) references users (id) on delete cascade
) with (fillfactor = 80);
create table machine_user_activity (
  machine_user_id uuid not null,
  last_active_at timestamptz(3) not null,
  constraint machine_user_activity_pkey primary key (machine_user_id),
  constraint machine_user_activity_machine_user_fkey foreign key (machine_user_id)
    references machine_users (id) on delete cascade
) with (fillfactor = 80);
-- What was before it is not known: nobody is called inactive for that time.
create table activity_recording (
  only_row boolean not null default true,
  started_at timestamptz(3) not null default now(),
  constraint activity_recording_pkey primary key (only_row),
  constraint activity_recording_one_row check (only_row)
);
insert into activity_recording default values;

-- Every report that was read. Users and projects are no foreign keys: what was reviewed outlives them.
create table access_reviews (
  id uuid not null,
  created_at timestamptz(3) not null default now(),
  created_by uuid not null,
  -- Null: the whole system.
  project_id uuid,
  population_hash bytea not null,
  entries integer not null,
  constraint access_reviews_pkey primary key (id),
  constraint access_reviews_population_hash_size check (octet_length(population_hash) = 32)
);
create index access_reviews_created_at_idx on access_reviews (created_at, id);

create table access_attestations (
  id uuid not null,
  created_at timestamptz(3) not null,
  created_by uuid not null,
  report_id uuid,
  project_id uuid,
  population_hash bytea not null,
  decision text not null,
  comment text not null,
  -- How many entries it is about; it names them unless it is about all of the population.
  entries integer not null,
  names_entries boolean not null,
  constraint access_attestations_pkey primary key (id),
  constraint access_attestations_population_hash_size check (octet_length(population_hash) = 32),
  constraint access_attestations_decision_known check (decision in ('approve', 'revoke', 'modify')),
  constraint access_attestations_comment_length check (char_length(comment) <= 2000)
);
create index access_attestations_report_idx on access_attestations (report_id);

create table access_attestation_entries (
  attestation_id uuid not null,
  entry_id bytea not null,
  decision text not null,
  justification text not null,
  constraint access_attestation_entries_pkey primary key (attestation_id, entry_id),
  constraint access_attestation_entries_attestation_fkey foreign key (attestation_id)
    references access_attestations (id),
  constraint access_attestation_entries_entry_id_size check (octet_length(entry_id) = 16),
  constraint access_attestation_entries_decision_known check (decision in ('approve', 'revoke', 'modify')),
  constraint access_attestation_entries_justification_length check (char_length(justification) <= 1000)
);

-- The newest attestation of each entry: one row for an access, however often it is attested. Without a foreign key, which
-- would be checked a row at a time for hundreds of thousands; attestations are never deleted.
create table access_entry_attestations (
  entry_id bytea not null,
  attestation_id uuid not null,
  decision text not null,
  constraint access_entry_attestations_pkey primary key (entry_id),
  constraint access_entry_attestations_entry_id_size check (octet_length(entry_id) = 16)
) with (fillfactor = 70);

create trigger access_attestations_append_only before update or delete or truncate on access_attestations
  for each statement execute function audit_refuse_change();
create trigger access_attestation_entries_append_only before update or delete or truncate on access_attestation_entries
  for each statement execute function audit_refuse_change();
