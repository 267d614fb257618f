-- Why: a call that is refused for want of access is logged too. It was not served, so it must not keep its endpoint and
-- its machine user from being deleted, or whoever may call nothing could keep everything.

-- Of a pair's logged calls, those that began before this may have been served. The former release notes only pairs whose
-- calls are served, and not until when.
alter table esb_callers add column served_until timestamptz not null default 'infinity';
