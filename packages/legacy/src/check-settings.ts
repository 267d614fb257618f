// Compares the effective settings of each application of each tenant, before and after the import.
import { type EffectiveSettings, type Layers, mergeLayers } from '@manager/manager/rules'
import { type Database, readLayers, completeLayers } from '@manager/manager/storage'
import { type CheckPart, createPart, inBatches } from './check-part.ts'
import { newIdsOf } from './new-ids.ts'
import type { OldSettings } from './rows.ts'
import { type Configs, emptyConfigs } from './settings-layers.ts'
import { shapeConfigs } from './settings-shape.ts'
import type { RowReader, Source } from './source.ts'

type OldClone = { id: string; tenant: string; project: Configs; ofTenant: Configs; own: Configs }
const batchSize = 200

/** Keeps the tenant settings of one project in memory, and reads those of applications row by row. */
export async function checkSettings(
  { db, run }: Pick<Database, 'db' | 'run'>,
  source: Source,
  onRow: () => void,
): Promise<CheckPart> {
  const part = createPart('applications of tenants with the same settings')
  await inBatches(clonesOf(source, onRow), batchSize, async (clones) => {
    const applications = await newIdsOf(
      db.read,
      'applications',
      clones.map(({ id }) => id),
    )
    const tenants = await newIdsOf(
      db.read,
      'tenants',
      clones.map(({ tenant }) => tenant),
    )
    const known = clones.flatMap((clone) => {
      const [applicationId, tenantId] = [applications.get(clone.id), tenants.get(clone.tenant)]
      return applicationId === undefined || tenantId === undefined ? [] : [{ clone, applicationId, tenantId }]
    })
    const found = await readLayers(run, completeLayers, known)
    for (const [index, { clone }] of known.entries())
      part.compare(
        meaningOf(oldLayers(clone)) === meaningOf(found[index]?.layers ?? {}),
        () => `the settings of the application ${clone.id} of the tenant ${clone.tenant}`,
      )
  })
  return part.result
}

/** The old order of layers: project, tenant, application. */
const oldLayers = ({ project, ofTenant, own }: OldClone): Layers => ({
  project,
  application: ofTenant,
  tenant: own,
})

/** Returns the effective values, regardless of their layer. */
function meaningOf(layers: Layers): string {
  const { backend, frontend }: EffectiveSettings = mergeLayers(layers)
  return JSON.stringify([
    backend.EnabledModules.value,
    pairs(backend.KeyValuePairs),
    frontend.EnabledThemes.value,
    frontend.DefaultTheme.value,
    frontend.EnabledLocales.value,
    frontend.DefaultLocale.value,
    pairs(frontend.KeyValuePairs),
  ])
}

const pairs = (list: readonly { Key: string; Value: string }[]): string[][] =>
  list.map(({ Key, Value }) => [Key, Value])

async function* clonesOf(source: Source, onRow: () => void): AsyncGenerator<OldClone, void, void> {
  const [applications, settings] = [source.read('applications'), source.read('settings')]
  for await (const { id: projectId } of source.projects()) {
    const left = new Map<string, string>()
    for await (const { id, tenant_id: tenant } of applications.of(projectId))
      if (tenant !== null) left.set(id, tenant)
    for await (const clone of settledClones(settings, projectId, left)) {
      onRow()
      yield clone
    }
  }
}

/** Yields the clones that have their own settings first, then the others. */
async function* settledClones(
  settings: RowReader<OldSettings>,
  projectId: string,
  left: Map<string, string>,
): AsyncGenerator<OldClone, void, void> {
  let project: Configs | null = null
  const tenants = new Map<string, Configs>()
  for await (const row of settings.of(projectId)) {
    const { configs } = shapeConfigs(row.backend_module_config, row.frontend_module_config)
    if (row.project_id !== null) project ??= configs
    else if (row.tenant_id !== null) tenants.set(row.tenant_id, tenants.get(row.tenant_id) ?? configs)
    else if (row.application_id !== null && left.delete(row.application_id)) {
      const ofTenant = tenants.get(row.tenant) ?? emptyConfigs()
      yield {
        id: row.application_id,
        tenant: row.tenant,
        project: project ?? emptyConfigs(),
        ofTenant,
        own: configs,
      }
    }
  }
  for (const [id, tenant] of left) {
    const ofTenant = tenants.get(tenant) ?? emptyConfigs()
    yield { id, tenant, project: project ?? emptyConfigs(), ofTenant, own: emptyConfigs() }
  }
}
