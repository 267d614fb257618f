-- Why: exports and evidence read logs by time: the audit trail over all chains, and the logs of calls and of runs. Rows are
-- appended in about the order of their time, so a summary of each range of blocks (BRIN) finds them; it costs next to nothing
-- per row, unlike a tree. The one of the audit trail is built after the migrations, while writers go on
-- (platform/db/built-indexes.ts); so are those of partitions that are there.

create index esb_audit_logs_created_at_idx on only esb_audit_logs
  using brin (created_at) with (pages_per_range = 32, autosummarize = on);
create index trigger_runs_scheduled_at_idx on only trigger_runs
  using brin (scheduled_at) with (pages_per_range = 32, autosummarize = on);

-- The next rows of a cursor with one text column, as one text with a line each: a program that passes rows on as they are
-- handles one value for hundreds of them.
create function fetch_lines(source refcursor, most integer, out lines text, out row_count integer) language plpgsql as $$
declare
  line text;
  batch text[] := '{}';
begin
  for n in 1..most loop
    fetch source into line;
    exit when not found;
    batch := batch || line;
  end loop;
  row_count := cardinality(batch);
  lines := array_to_string(batch, e'\n');
end
$$;

-- A cell of CSV by the rules of platform/lists/csv.ts: quoted where RFC 4180 asks for it, and a text that would start a formula
-- in a spreadsheet has an apostrophe in front.
create function csv_cell(cell text) returns text language sql immutable parallel safe as $$
  select case when safe ~ '[",\r\n\t]|^ | $' then '"' || replace(safe, '"', '""') || '"' else safe end
  from (select case when cell ~ '^[-=+@\t\r\n＝＋－＠]' then '''' || cell else coalesce(cell, '') end as safe) marked
$$;
