-- Why: people can make a test call of an endpoint. It is logged like a call of a machine user, so the log marks it.

alter table esb_audit_logs add column is_test boolean not null default false;
