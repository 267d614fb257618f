-- Why: an overview shows the calls, trigger runs and notifications of a month. Counting the logs for each request would cost
-- as much as the logs are long, so schedules count every row once, by hour or day.

-- A schedule has counted the rows whose time is before counted_until, and no others. Its transaction moves the time together
-- with the counts, so a crash neither loses nor repeats rows. Counting starts with this migration.
create table roll_ups (
  name text not null,
  counted_until timestamptz(3) not null default now(),
  constraint roll_ups_pkey primary key (name),
  constraint roll_ups_name_known check (name in ('esb_calls', 'trigger_runs'))
);
insert into roll_ups (name) values ('esb_calls'), ('trigger_runs');

-- Calls by the hour of their start. A row without an application counts all calls of the project.
create table esb_call_counts (
  project_id uuid not null,
  application_id uuid,
  hour timestamptz(3) not null,
  outcome text not null,
  calls bigint not null,
  total_duration_ms bigint not null,
  constraint esb_call_counts_key unique nulls not distinct (project_id, application_id, hour, outcome),
  constraint esb_call_counts_outcome_known check (outcome in
    ('ok', 'client_error', 'server_error', 'rejected', 'failed', 'unknown')),
  constraint esb_call_counts_project_fkey foreign key (project_id) references projects (id) on delete cascade,
  constraint esb_call_counts_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade
) partition by range (hour);

-- Calls that were still in flight when the schedule passed them. They are counted when they have ended.
create table esb_open_calls (
  project_id uuid not null,
  application_id uuid not null,
  endpoint_id uuid not null,
  machine_user_id uuid not null,
  created_at timestamptz(3) not null,
  id uuid not null,
  constraint esb_open_calls_pkey primary key (id),
  constraint esb_open_calls_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index esb_open_calls_application_idx on esb_open_calls (project_id, application_id);

-- Runs by the hour for which they were planned. A row without a trigger counts all runs of the project. Like the runs, the
-- counts outlive their trigger and are dropped by month: a foreign key would lock triggers that are due.
create table trigger_run_counts (
  project_id uuid not null,
  trigger_id uuid,
  hour timestamptz(3) not null,
  outcome text not null,
  runs bigint not null,
  constraint trigger_run_counts_key unique nulls not distinct (project_id, trigger_id, hour, outcome),
  constraint trigger_run_counts_outcome_known check (outcome in
    ('pending', 'delivered', 'failed', 'cancelled', 'skipped_no_backend', 'skipped_overlap', 'missed'))
) partition by range (hour);

-- Runs whose outcome may change after it was counted.
create table trigger_open_runs (
  project_id uuid not null,
  trigger_id uuid not null,
  scheduled_at timestamptz(3) not null,
  environment_id uuid not null,
  counted_outcome text not null,
  constraint trigger_open_runs_pkey primary key (trigger_id, scheduled_at, environment_id),
  constraint trigger_open_runs_outcome_known check (counted_outcome in ('pending', 'failed'))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Notifications by the day on which they were emitted (UTC).
create table notification_counts (
  project_id uuid not null,
  application_id uuid not null,
  day timestamptz(3) not null,
  emitted bigint not null,
  recipients bigint not null,
  seen bigint not null,
  read bigint not null,
  constraint notification_counts_pkey primary key (application_id, day),
  constraint notification_counts_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade
) with (fillfactor = 70);
create index notification_counts_day_idx on notification_counts (day);

-- What one statement of emits or marks adds to the counts. Writers only insert, so none waits for another.
create table notification_count_changes (
  application_id uuid not null,
  day timestamptz(3) not null,
  emitted integer not null default 0,
  recipients integer not null default 0,
  seen integer not null default 0,
  read integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

insert into monthly_partitions (parent, least_days) values
  ('esb_call_counts', 31), ('trigger_run_counts', 31);
select partitions_prepare('esb_call_counts', 2), partitions_prepare('trigger_run_counts', 2);
