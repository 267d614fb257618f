-- Why: people start runs of triggers and repeat runs that ended. A run records who asked for it and which run it repeats.

alter table trigger_runs
  -- The person who started the run. Null for a run that the schedule planned.
  add column requested_by uuid,
  -- The ended run that this run repeats.
  add column retry_of uuid,
  -- A text of the caller. A request that is repeated after a lost response finds its run by it.
  add column request_key text;

-- Only runs that people start are in these indexes. `migrate up` builds them for the existing partitions afterwards.
create index trigger_runs_retry_idx on only trigger_runs (retry_of) where retry_of is not null;
create index trigger_runs_request_idx on only trigger_runs (trigger_id, request_key, scheduled_at)
  where request_key is not null;
