-- Why: rules of sealing that hold whoever writes. A chain that claims to be sealed beyond its own head would never be sealed
-- again, and a checkpoint far ahead of the others would leave no number for the next one.

alter table audit_chains add constraint audit_chains_checkpointed check (checkpointed_seq <= seq) not valid;

create function audit_checkpoints_in_order() returns trigger language plpgsql as $$
begin
  if new.seq > (select coalesce(max(seq), 0) + 1 from audit_checkpoints) then
    raise exception 'checkpoints are written one after the other' using errcode = 'check_violation';
  end if;
  return new;
end
$$;
create trigger audit_checkpoints_in_order before insert on audit_checkpoints
  for each row execute function audit_checkpoints_in_order();
