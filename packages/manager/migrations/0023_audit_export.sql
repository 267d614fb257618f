-- Why: exports and evidence read logs by time: the audit trail over all chains, and the logs of calls and of runs. Rows are
-- appended in about the order of their time, so a summary of each range of blocks (BRIN) finds them; it costs next to nothing
-- per row, unlike a tree. The one of the audit trail is built after the migrations, while writers go on
-- (platform/db/built-indexes.ts); so are those of partitions that are there.

create index esb_audit_logs_created_at_idx on only esb_audit_logs
  using brin (created_at) with (pages_per_range = 32, autosummarize = on);
create index trigger_runs_scheduled_at_idx on only trigger_runs
  using brin (scheduled_at) with (pages_per_range = 32, autosummarize = on);
