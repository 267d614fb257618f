// One statement reads the layers of any number of applications and tenants, and the settings version. Each layer is an
// index lookup, so the cost does not depend on the number of rows. Shared layers are read once.
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { createVersionSql } from '../../platform/postgres/project-version.ts'
import {
  type BackendModuleConfig,
  type FrontendModuleConfig,
  type Layers,
  fillBackendDefaults,
  fillFrontendDefaults,
} from './layers.pure.ts'

/** `tenantId` is null for the two layers that apply to all tenants. */
export type LayersId = { applicationId: string; tenantId: string | null }
/** Layers are read only if they are served: for all tenants, or for a tenant that has the application enabled. */
export type LayersRow = { projectId: string; version: string; isServed: boolean; layers: Layers }

export const formatLayersKey = ({ applicationId, tenantId }: LayersId): string =>
  `${applicationId} ${tenantId}`

type Configs = {
  backend: Partial<BackendModuleConfig> | null
  frontend: Partial<FrontendModuleConfig> | null
}
type Row = {
  application_id: string
  tenant_id: string | null
  project_id: string
  version: string
  is_served: boolean
  project: Configs | null
  application: Configs | null
  tenant: Configs | null
  leaf: Configs | null
}

/**
 * `backend` selects the part of backend configs to read. `servedLayerCondition` is the condition for reading
 * layers.
 */
function createLayersStatement(
  name: string,
  { backend, servedLayerCondition }: { backend: string; servedLayerCondition: string },
): PreparedStatement {
  const buildConfigsSql = (where: string): string => `(
    select json_build_object('backend', ${backend}, 'frontend', s.frontend_module_config) from settings s where ${where})`
  const buildFirstRowSql = (per: string, value: string): string => `case when ${servedLayerCondition}
    and row_number() over (partition by ${per}, ${servedLayerCondition} order by wanted.position) = 1 then ${value} end`
  const projectConfigs = buildConfigsSql(
    's.project_id = app.project_id and s.tenant_id is null and s.application_id is null',
  )
  const applicationConfigs = buildConfigsSql('s.application_id = app.id and s.tenant_id is null')
  const tenantConfigs = buildConfigsSql(
    's.project_id = app.project_id and s.tenant_id = wanted.tenant_id and s.application_id is null',
  )
  const leafConfigs = buildConfigsSql('s.application_id = app.id and s.tenant_id = wanted.tenant_id')
  return {
    name,
    kind: 'read',
    size: 'large',
    text: `
      select wanted.position::int, app.id as application_id, wanted.tenant_id, app.project_id,
        ${createVersionSql('app.project_id', 'settings')} as version, ${servedLayerCondition} as is_served,
        ${buildFirstRowSql('app.project_id', projectConfigs)} as project,
        ${buildFirstRowSql('app.id', applicationConfigs)} as application,
        ${buildFirstRowSql('app.project_id, wanted.tenant_id', tenantConfigs)} as tenant,
        case when ${servedLayerCondition} then ${leafConfigs} end as leaf
      from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (application_id, tenant_id, position)
      cross join lateral (
        select a.id, a.project_id from applications a where a.id = wanted.application_id limit 1
      ) app
      left join lateral (
        select t.enabled from tenant2applications t
        where t.tenant_id = wanted.tenant_id and t.application_id = app.id limit 1
      ) joined on true`,
  }
}

/** Reads the layers for a frontend, with only the modules of backend configs. */
export const servedLayers = createLayersStatement('settings-served-layers', {
  backend: `json_build_object('EnabledModules', s.backend_module_config -> 'EnabledModules')`,
  servedLayerCondition: '(wanted.tenant_id is null or coalesce(joined.enabled, false))',
})

/** Reads the complete layers for a tenant that is linked to the application, even if the application is disabled. */
export const completeLayers = createLayersStatement('settings-whole-layers', {
  backend: 's.backend_module_config',
  servedLayerCondition: '(joined.enabled is not null)',
})

/** Returns the layers in input order, with null for an unknown application. */
export async function readLayers(
  run: RunPrepared,
  statement: PreparedStatement,
  ids: readonly LayersId[],
): Promise<(LayersRow | null)[]> {
  const values = [ids.map(({ applicationId }) => applicationId), ids.map(({ tenantId }) => tenantId)]
  const rows = orderByPosition<Row>(ids.length, await run<Row & { position: number }>(statement, values))
  const sharedConfigs = new Map<string, Configs>()
  const getSharedConfigs = (name: string, configs: Configs | null): Configs | null => {
    if (configs !== null) sharedConfigs.set(name, configs)
    return configs ?? sharedConfigs.get(name) ?? null
  }
  return rows.map((row) => {
    if (row === null) return null
    const layers: Layers = {}
    const addLayer = (layer: keyof Layers, configs: Configs | null): void => {
      if (configs !== null && row.is_served)
        layers[layer] = {
          backend: fillBackendDefaults(configs.backend),
          frontend: fillFrontendDefaults(configs.frontend),
        }
    }
    addLayer('project', getSharedConfigs(`project ${row.project_id}`, row.project))
    addLayer('application', getSharedConfigs(`application ${row.application_id}`, row.application))
    addLayer('tenant', getSharedConfigs(`tenant ${row.project_id} ${row.tenant_id}`, row.tenant))
    addLayer('tenant2application', row.leaf)
    return { projectId: row.project_id, version: row.version, isServed: row.is_served, layers }
  })
}
