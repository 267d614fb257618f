-- Why: people look for credentials to renew and for the settings that pin a pilet. Both cost one index range, whatever the
-- number of credentials and tenants.

create index personal_access_tokens_expiry_idx on personal_access_tokens (expires_at, id)
  where not revoked and expires_at is not null;

-- The age of a credential counts from its last rotation. The planner ignores the statistics of partial indexes, so this one
-- contains disabled machine users, too.
create index machine_users_credential_age_idx on machine_users (project_id, (coalesce(last_rotated_at, created_at)));

-- The pilets that a settings row pins. Pins that the database cannot read pin nothing, as in feeds. Longer names cannot be
-- uploaded, and could exceed the size of an index entry.
create function settings_pins(project_id uuid, config jsonb) returns text[] language sql immutable
  set search_path = pg_catalog, pg_temp as $$
  select coalesce(array_agg(project_id || ' ' || name), '{}')
  from jsonb_path_query_first(config, '$.KeyValuePairs[*] ? (@.Key == "pilets.pins")') pair
  cross join lateral jsonb_object_keys(public.pilet_pins(pair ->> 'Value')) name
  where pair is not null and char_length(name) <= 214
$$;
create index settings_tenant_pins_idx on settings using gin (settings_pins(project_id, frontend_module_config))
  where tenant_id is not null;
