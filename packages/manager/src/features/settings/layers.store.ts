// One statement reads the layers of any number of applications and tenants, together with the version of the project they
// were read under. Each layer is looked up by index, so that the cost does not depend on the number of rows; what several
// of the pairs share is read once.
import { inPlace } from '../../platform/db/batched-read.ts'
import type { Database, PreparedStatement } from '../../platform/db/database.ts'
import { versionOf } from '../../platform/db/project-version.ts'
import {
  type BackendModuleConfig,
  type FrontendModuleConfig,
  type Layers,
  fullBackend,
  fullFrontend,
} from './layers.ts'

/** Without a tenant: the two layers that hold for all of them. */
export type Place = { applicationId: string; tenantId: string | null }
export type PlaceRow = { projectId: string; version: string; isEnabled: boolean; layers: Layers }

type Configs = {
  backend: Partial<BackendModuleConfig> | null
  frontend: Partial<FrontendModuleConfig> | null
}
type Row = {
  project_id: string
  version: string
  enabled: boolean | null
  project: Configs | null
  application: Configs | null
  tenant: Configs | null
  leaf: Configs | null
}

const configs = (where: string): string => `(
  select json_build_object('backend', s.backend_module_config, 'frontend', s.frontend_module_config)
  from settings s where ${where})`
const once = (per: string, value: string): string =>
  `case when row_number() over (partition by ${per} order by wanted.position) = 1 then ${value} end`

const statement: PreparedStatement = {
  name: 'settings-layers',
  text: `
    select wanted.position::int, app.project_id, ${versionOf('app.project_id')} as version, joined.enabled,
      ${once('app.project_id', configs('s.project_id = app.project_id and s.tenant_id is null and s.application_id is null'))} as project,
      ${once('app.id', configs('s.application_id = app.id and s.tenant_id is null'))} as application,
      ${once('app.project_id, wanted.tenant_id', configs('s.project_id = app.project_id and s.tenant_id = wanted.tenant_id and s.application_id is null'))} as tenant,
      ${configs('s.application_id = app.id and s.tenant_id = wanted.tenant_id')} as leaf
    from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (application_id, tenant_id, position)
    cross join lateral (
      select a.id, a.project_id from applications a where a.id = wanted.application_id limit 1
    ) app
    left join lateral (
      select t.enabled from tenant2applications t
      where t.tenant_id = wanted.tenant_id and t.application_id = app.id limit 1
    ) joined on true`,
}

/** The layers of these places, in this order; null where there is no such application. */
export async function readPlaces(
  read: Database['read'],
  places: readonly Place[],
): Promise<(PlaceRow | null)[]> {
  const values = [places.map(({ applicationId }) => applicationId), places.map(({ tenantId }) => tenantId)]
  const rows = inPlace<Row>(places.length, await read<Row & { position: number }>(statement, values))
  const shared = new Map<string, Configs>()
  const share = (name: string, found: Configs | null): Configs | null => {
    if (found !== null) shared.set(name, found)
    return found ?? shared.get(name) ?? null
  }
  return rows.map((row, index) => {
    const place = places[index]
    if (row === null || place === undefined) return null
    const layers: Layers = {}
    const add = (layer: keyof Layers, found: Configs | null): void => {
      if (found !== null)
        layers[layer] = { backend: fullBackend(found.backend), frontend: fullFrontend(found.frontend) }
    }
    add('project', share(`project ${row.project_id}`, row.project))
    add('application', share(`application ${place.applicationId}`, row.application))
    add('tenant', share(`tenant ${row.project_id} ${place.tenantId}`, row.tenant))
    add('tenant2application', row.leaf)
    return { projectId: row.project_id, version: row.version, isEnabled: row.enabled === true, layers }
  })
}
