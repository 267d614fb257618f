-- Why: a database that answers may still take no writes: a standby, a full disk, a server set read-only. Readiness writes
-- to find out.

-- One row for each remainder of the connection's process id, so that replicas seldom wait for each other. The page has
-- room for new versions of its rows, so that no index changes and nothing grows.
create table readiness_probes (
  slot smallint not null,
  probed_at timestamptz not null,
  constraint readiness_probes_pkey primary key (slot)
) with (fillfactor = 10);
