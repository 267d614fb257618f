-- Why: a search finds a logged call by its request id alone. The existing index starts with the endpoint, so it would need
-- a lookup for each endpoint.

-- The new index serves every statement that used the old one, so calls still write two indexes. It is created without
-- partitions, which is fast. `migrate up` then builds it for each partition without blocking calls; until then, a lookup by
-- request id reads the other index and takes longer.
drop index esb_audit_logs_request_idx;
create index esb_audit_logs_request_id_idx on only esb_audit_logs (request_id, endpoint_id, created_at)
  where request_id is not null;
