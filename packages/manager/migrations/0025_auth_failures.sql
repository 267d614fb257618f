-- Why: an auditor asks who tried to get in and failed. Anyone who reaches a port can fail as often as they like, so what is
-- kept is a count for each minute, kind and client: a flood costs rows by the minute and not by the try.

-- Event is `failure`, and then kind says which proof failed, or `lockout`, and then kind names the throttle. Client is a
-- network, `others` for what came after the first thousand of a minute, or what the throttle counts by.
create table auth_failures (
  minute timestamptz(3) not null,
  event text not null,
  kind text not null,
  client text not null,
  count bigint not null,
  longest_block_ms bigint not null default 0,
  constraint auth_failures_pkey primary key (minute, event, kind, client),
  constraint auth_failures_event_known check (event in ('failure', 'lockout')),
  constraint auth_failures_kind_length check (char_length(kind) between 1 and 50),
  constraint auth_failures_client_length check (char_length(client) between 1 and 100),
  constraint auth_failures_count_positive check (count > 0),
  constraint auth_failures_longest_block_positive check (longest_block_ms >= 0)
) partition by range (minute);

insert into monthly_partitions (parent, least_days, fillfactor) values ('auth_failures', 31, 70);
select partitions_prepare('auth_failures', 2);
