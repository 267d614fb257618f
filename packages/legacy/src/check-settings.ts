// Compares the effective settings of each application in each tenant, before and after the import.
import { type EffectiveSettings, type Layers, mergeLayers } from '@manager/manager/rules'
import { type Database, readLayers, completeLayers } from '@manager/manager/storage'
import { type CheckPart, createPart, processInBatches } from './check-part.ts'
import { findNewIds } from './new-ids.ts'
import type { OldSettings } from './rows.ts'
import { type Configs, createEmptyConfigs } from './settings-layers.ts'
import { shapeConfigs } from './settings-shape.ts'
import type { RowReader, Source } from './source.ts'

type OldClone = {
  id: string
  tenant: string
  project: Configs
  tenantConfigs: Configs
  cloneConfigs: Configs
}
const batchSize = 200

/**
 * Compares the settings. Keeps the tenant settings of one project in memory, and reads application settings
 * row by row.
 */
export async function checkSettings(
  { db, run }: Pick<Database, 'db' | 'run'>,
  source: Source,
  onRow: () => void,
): Promise<CheckPart> {
  const part = createPart('tenant applications with unchanged settings')
  await processInBatches(readClones(source, onRow), batchSize, async (clones) => {
    const applications = await findNewIds(
      db.read,
      'applications',
      clones.map(({ id }) => id),
    )
    const tenants = await findNewIds(
      db.read,
      'tenants',
      clones.map(({ tenant }) => tenant),
    )
    const importedClones = clones.flatMap((clone) => {
      const [applicationId, tenantId] = [applications.get(clone.id), tenants.get(clone.tenant)]
      return applicationId === undefined || tenantId === undefined ? [] : [{ clone, applicationId, tenantId }]
    })
    const currentLayers = await readLayers(run, completeLayers, importedClones)
    for (const [index, { clone }] of importedClones.entries())
      part.compare(
        formatEffective(getOldLayers(clone)) === formatEffective(currentLayers[index]?.layers ?? {}),
        () => `the settings of the application ${clone.id} of the tenant ${clone.tenant}`,
      )
  })
  return part.result
}

/** Returns the layers in their old order: project, tenant, application. */
const getOldLayers = ({ project, tenantConfigs, cloneConfigs }: OldClone): Layers => ({
  project,
  application: tenantConfigs,
  tenant: cloneConfigs,
})

/** Formats the effective values for comparison, regardless of the layer that sets them. */
function formatEffective(layers: Layers): string {
  const { backend, frontend }: EffectiveSettings = mergeLayers(layers)
  return JSON.stringify([
    backend.EnabledModules.value,
    formatPairs(backend.KeyValuePairs),
    frontend.EnabledThemes.value,
    frontend.DefaultTheme.value,
    frontend.EnabledLocales.value,
    frontend.DefaultLocale.value,
    formatPairs(frontend.KeyValuePairs),
  ])
}

const formatPairs = (list: readonly { Key: string; Value: string }[]): string[][] =>
  list.map(({ Key, Value }) => [Key, Value])

async function* readClones(source: Source, onRow: () => void): AsyncGenerator<OldClone, void, void> {
  const [applications, settings] = [source.read('applications'), source.read('settings')]
  for await (const { id: projectId } of source.projects()) {
    const remainingClones = new Map<string, string>()
    for await (const { id, tenant_id: tenant } of applications.of(projectId))
      if (tenant !== null) remainingClones.set(id, tenant)
    for await (const clone of readClonesOfProject(settings, projectId, remainingClones)) {
      onRow()
      yield clone
    }
  }
}

/** Yields the clones with their own settings first, then the other clones. */
async function* readClonesOfProject(
  settings: RowReader<OldSettings>,
  projectId: string,
  remainingClones: Map<string, string>,
): AsyncGenerator<OldClone, void, void> {
  let project: Configs | null = null
  const tenants = new Map<string, Configs>()
  for await (const row of settings.of(projectId)) {
    const { configs } = shapeConfigs(row.backend_module_config, row.frontend_module_config)
    if (row.project_id !== null) project ??= configs
    else if (row.tenant_id !== null) tenants.set(row.tenant_id, tenants.get(row.tenant_id) ?? configs)
    else if (row.application_id !== null && remainingClones.delete(row.application_id)) {
      const tenantConfigs = tenants.get(row.tenant) ?? createEmptyConfigs()
      yield {
        id: row.application_id,
        tenant: row.tenant,
        project: project ?? createEmptyConfigs(),
        tenantConfigs,
        cloneConfigs: configs,
      }
    }
  }
  for (const [id, tenant] of remainingClones) {
    const tenantConfigs = tenants.get(tenant) ?? createEmptyConfigs()
    yield {
      id,
      tenant,
      project: project ?? createEmptyConfigs(),
      tenantConfigs,
      cloneConfigs: createEmptyConfigs(),
    }
  }
}
