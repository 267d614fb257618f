-- Why: an audit row names who acted, whoever that was: a user, a machine user, or the system (a job or a command). The hash
-- covers it, so the hashed form has a version; rows of the first form name a user at most and verify as they did.

alter table audit_logs
  add column form smallint not null default 1,
  add column principal_type text,
  add column principal_id text;

-- Not validated: the rows that are there are all of the first form, and a scan of the whole trail would hold up its writers.
alter table audit_logs add constraint audit_logs_form check (
  (form = 1 and principal_type is null and principal_id is null)
  or (form = 2 and principal_type in ('user', 'machine_user', 'system') and principal_id is not null)
) not valid;
