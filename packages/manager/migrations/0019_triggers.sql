-- Why: triggers call backends on a schedule. When a trigger is due next is in its row, so that a tick finds what is due
-- and nothing else; a run exists once for a trigger, an environment and a planned instant, whoever plans it.

create table triggers (
  id uuid not null,
  project_id uuid not null,
  application_id uuid not null,
  name text not null,
  description text not null,
  cron_expression text not null,
  run_key text not null,
  enabled boolean not null,
  -- Null for a trigger that is not enabled.
  next_fire_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint triggers_pkey primary key (id),
  constraint triggers_project_id_id_key unique (project_id, id),
  constraint triggers_name_length check (char_length(name) between 1 and 100),
  constraint triggers_description_length check (char_length(description) <= 2000),
  constraint triggers_cron_expression_length check (char_length(cron_expression) between 1 and 200),
  constraint triggers_run_key_length check (char_length(run_key) <= 200),
  constraint triggers_enabled_is_planned check (enabled = (next_fire_at is not null)),
  constraint triggers_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade
) with (fillfactor = 70);
create index triggers_application_idx on triggers (application_id, name, id);
create index triggers_due_idx on triggers (next_fire_at) where next_fire_at is not null;

-- A run keeps what was sent, also when its trigger has changed or is gone. It is open while its outcome is pending.
create table trigger_runs (
  id uuid not null,
  scheduled_at timestamptz(3) not null,
  project_id uuid not null,
  application_id uuid not null,
  trigger_id uuid not null,
  environment_id uuid not null,
  trigger_name text not null,
  cron_expression text not null,
  run_key text not null,
  outcome text not null,
  -- Attempts that were begun; the same one is begun again when the process that made it is lost.
  attempts integer not null default 0,
  starts integer not null default 0,
  created_at timestamptz(3) not null default now(),
  executed_at timestamptz(3),
  finished_at timestamptz(3),
  response_status integer,
  failure text,
  constraint trigger_runs_pkey primary key (trigger_id, scheduled_at, environment_id),
  constraint trigger_runs_outcome_known check (outcome in
    ('pending', 'delivered', 'failed', 'cancelled', 'skipped_no_backend', 'skipped_overlap', 'missed'))
) partition by range (scheduled_at);
-- Whether the run before is still going.
create index trigger_runs_open_idx on trigger_runs (trigger_id, environment_id) where outcome = 'pending';
create index trigger_runs_id_idx on trigger_runs (id);
-- What operators look for; there are few of them.
create index trigger_runs_failed_idx on trigger_runs (id) where outcome = 'failed';

insert into monthly_partitions (parent, least_days, fillfactor) values ('trigger_runs', 31, 70);
select partitions_prepare('trigger_runs', 2);

-- A job is one attempt. First attempts and later ones wait in two queues, so that those that wait for their time are not
-- read whenever the others are. A job whose process is lost is given to another after ten seconds without a heartbeat.
select jobs.create_queue(queue, '{"policy": "standard", "heartbeatSeconds": 10, "expireInSeconds": 900,
  "retryLimit": 1000, "retryDelay": 1, "retryBackoff": true, "retryDelayMax": 60}')
from unnest(array['trigger-attempts', 'trigger-retries']) queue;
