-- Why: whoever has the X-Request-Id of a response finds the logged call by it. Calls logged before have none.

alter table esb_audit_logs add column request_id text collate "C";

-- Callers choose ids, so one may be on many rows: those of an endpoint are found newest first, and no others are read.
-- The index begins without partitions, which takes a moment. New ones get it; for the others `migrate up` builds it
-- afterwards, while calls go on (platform/db/partition-indexes.ts).
create index esb_audit_logs_request_idx on only esb_audit_logs (endpoint_id, request_id, created_at)
  where request_id is not null;
