-- Why: an update that stores the same values counted as a revision, so it rejected the change of another person for nothing.
-- Settings, language packs and pilets already ignored such updates.

create or replace function revisions_next() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  set_at timestamptz(3) := new.updated_at;
begin
  new.updated_at := old.updated_at;
  if new is distinct from old then
    new.revision := old.revision + 1;
    new.updated_at := case when set_at = old.updated_at then now() else set_at end;
  end if;
  return new;
end
$$;
