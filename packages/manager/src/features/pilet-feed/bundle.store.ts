// One statement checks any number of bundles and reads the project version. To be served, a package must be
// enabled, and a frontend of the application must load it.
import { sql } from 'kysely'
import type { StoreName } from '../../platform/blobs/blob-store.ts'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { Reads } from '../../platform/postgres/handles.ts'
import { createVersionSql } from '../../platform/postgres/project-version.ts'
import { layerRows, buildModulesSql, setsModules } from './modules.store.ts'

export type BundleAddress = { applicationId: string; name: string; version: string }
type FoundBundle = { hash: string; size: number; store: StoreName; contentType: string }
/** `found` is null if the application does not load such a bundle. */
export type BundleRow = { projectId: string; version: string; found: FoundBundle | null }

// The bundle path does not name a tenant, so a bundle is served if any tenant loads it. Tenants are looked up
// by the module in their settings. Rows with and without the application are checked, because the tenant's
// layer for the application replaces its general layer.
const isLoadedByTenant = `exists (
  with listing as materialized (
    select s.tenant_id, s.application_id from settings s
    where settings_modules(s.project_id, s.backend_module_config) @> array[app.project_id || ' ' || wanted.name]
      and s.tenant_id is not null
  )
  select from listing
  join tenant2applications t on t.tenant_id = listing.tenant_id and t.application_id = app.id and t.enabled
  where listing.application_id = app.id
    or (listing.application_id is null and not exists (
      select from settings s where ${layerRows.leaf('listing.tenant_id')} and ${setsModules})))`

const createQuery = (applicationIds: string[], names: string[], versions: string[]) => sql<
  { position: number; projectId: string; areaVersion: string; isServed: boolean } & FoundBundle
>`
  select wanted.position::int, app.project_id, ${sql.raw(createVersionSql('app.project_id', 'pilets'))} as area_version,
    found.*, case
      when found.hash is null then false
      when jsonb_exists(${sql.raw(buildModulesSql(layerRows.application, layerRows.project))}, wanted.name) then true
      else ${sql.raw(isLoadedByTenant)} end as is_served
  from unnest(${applicationIds}::uuid[], ${names}::text[], ${versions}::text[]) with ordinality
    as wanted (application_id, name, version, position)
  cross join lateral (
    select a.id, a.project_id from applications a where a.id = wanted.application_id limit 1
  ) app
  left join lateral (
    select p.hash, p.size, b.store, p.content_type from pilet_packages p join blobs b on b.sha256 = p.hash
    where p.project_id = app.project_id and p.name = wanted.name and p.version = wanted.version and p.enabled limit 1
  ) found on true`

/**
 * Returns the bundles in the order of the addresses, with null for an unknown application. The settings of
 * lookup connections prevent the use of the module index, so this statement runs on different connections.
 */
export async function readBundles(
  db: Reads,
  addresses: readonly BundleAddress[],
): Promise<(BundleRow | null)[]> {
  const { rows } = await createQuery(
    addresses.map(({ applicationId }) => applicationId),
    addresses.map(({ name }) => name),
    addresses.map(({ version }) => version),
  ).execute(db)
  return orderByPosition<BundleRow>(
    addresses.length,
    rows.map(({ position, projectId, areaVersion, isServed, hash, size, store, contentType }) => ({
      position,
      projectId,
      version: areaVersion,
      found: isServed ? { hash, size, store, contentType } : null,
    })),
  )
}
