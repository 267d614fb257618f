// Finds settings rows by a pilet that they enable or pin. Indexes find the rows of tenants, so the cost depends on the rows
// found, up to the limit, and on the number of applications.
import { sql } from 'kysely'
import type { Reads } from '../../platform/postgres/handles.ts'

export type UsageEntry = {
  projectId: string
  applicationId: string | null
  tenantId: string | null
  layer: string
  isEnabled: boolean
  pinnedVersion: string | null
}

/** Returns at most `limit` settings rows that enable or pin the pilet, with the most general layer first. */
export async function listUsageEntries(
  db: Reads,
  { projectId, name }: { projectId: string; name: string },
  limit: number,
): Promise<UsageEntry[]> {
  const key = `${projectId} ${name}`
  const enablesSql = sql<boolean>`settings_modules(s.project_id, s.backend_module_config) @> array[${key}::text]`
  const pins = sql<boolean>`settings_pins(s.project_id, s.frontend_module_config) @> array[${key}::text]`
  const pinsPair = sql`jsonb_path_query_first(s.frontend_module_config, '$.KeyValuePairs[*] ? (@.Key == "pilets.pins")')`
  // The rows without a tenant are read first, because their values apply to many tenants.
  const { rows } = await sql<UsageEntry>`
    with found as (
      (select s.id, ${enablesSql} as enables, ${pins} as pins from settings s
       where s.project_id = ${projectId} and s.tenant_id is null and (${enablesSql} or ${pins}) limit ${limit})
      union all
      (select s.id, true, false from settings s where ${enablesSql} and s.tenant_id is not null limit ${limit})
      union all
      (select s.id, false, true from settings s where ${pins} and s.tenant_id is not null limit ${limit})
    ), merged as (
      select id, bool_or(enables) as enables, bool_or(pins) as pins from found group by id
    )
    select s.project_id, s.application_id, s.tenant_id, layers.layer, merged.enables as is_enabled,
      case when merged.pins then pilet_pins(${pinsPair} ->> 'Value') ->> ${name}::text end as pinned_version
    from merged
    -- The limit makes the planner look up each row by its id.
    cross join lateral (select * from settings own where own.id = merged.id limit 1) s
    cross join lateral (select case
        when s.tenant_id is null then case when s.application_id is null then 'project' else 'application' end
        when s.application_id is null then 'tenant' else 'tenant2application' end as layer
    ) layers
    order by array_position(array['project', 'application', 'tenant', 'tenant2application'], layers.layer), s.id
    limit ${limit}`.execute(db)
  return rows
}
