-- Why: a specification says what runs for an application in an environment, and whether it may be scaled to zero. The proxy
-- wakes what sleeps: one process at a time raises the replicas of a deployment, and the others share what it got.

create table deployment_specifications (
  id uuid not null,
  project_id uuid not null,
  application_id uuid not null,
  environment_id uuid not null,
  -- namespace/name of the orchestrator.
  workload text not null,
  image text not null,
  version text not null,
  min_replicas integer not null,
  max_replicas integer not null,
  port integer not null,
  health_path text not null,
  readiness_timeout_seconds integer not null,
  -- Set by an operator's command alone, for this workload.
  scale_to_zero boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint deployment_specifications_pkey primary key (id),
  constraint deployment_specifications_project_id_id_key unique (project_id, id),
  constraint deployment_specifications_deployment_key unique (application_id, environment_id),
  -- Two DNS labels.
  constraint deployment_specifications_workload_form check
    (workload ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  constraint deployment_specifications_workload_length check (char_length(workload) <= 127),
  constraint deployment_specifications_image_length check (char_length(image) between 1 and 500),
  constraint deployment_specifications_version_length check (char_length(version) <= 100),
  constraint deployment_specifications_replicas_order check
    (min_replicas >= 0 and max_replicas between 1 and 1000 and min_replicas <= max_replicas),
  constraint deployment_specifications_port_range check (port between 1 and 65535),
  constraint deployment_specifications_health_path_length check (char_length(health_path) between 1 and 200),
  constraint deployment_specifications_readiness_timeout_range check
    (readiness_timeout_seconds between 1 and 3600),
  constraint deployment_specifications_application_fkey foreign key (project_id, application_id)
    references applications (project_id, id) on delete cascade,
  constraint deployment_specifications_environment_fkey foreign key (project_id, environment_id)
    references environments (project_id, id) on delete cascade
);
create index deployment_specifications_environment_idx on deployment_specifications (environment_id);

-- The last wake of a deployment: going on until `claimed_until` while that is set, else ended with a number of replicas or
-- with a failure. A process that is lost ends nothing, and its claim runs out.
create table deployment_wakes (
  specification_id uuid not null,
  holder uuid not null,
  claimed_until timestamptz(3),
  ended_at timestamptz(3),
  min_replicas integer,
  already_awake boolean,
  failure text,
  constraint deployment_wakes_pkey primary key (specification_id),
  constraint deployment_wakes_failure_length check (char_length(failure) <= 500),
  constraint deployment_wakes_ended check ((claimed_until is null) = (ended_at is not null)),
  constraint deployment_wakes_outcome check
    ((ended_at is not null) = (failure is not null or (min_replicas is not null and already_awake is not null))),
  constraint deployment_wakes_specification_fkey foreign key (specification_id)
    references deployment_specifications (id) on delete cascade
) with (fillfactor = 50);
