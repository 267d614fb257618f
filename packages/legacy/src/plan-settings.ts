// Settings that all clones of an application share move to the application. The rest stays with each tenant.
import { settingsEvent } from '@manager/manager/rules'
import type { AuditEvent } from '@manager/manager/storage'
import type { Group } from './groups.ts'
import { keptId } from './ids.ts'
import { type Project, applicationSettingsId } from './project.ts'
import { remainsOf } from './remains.ts'
import type { OldSettings } from './rows.ts'
import {
  type Common,
  type Configs,
  addClone,
  createCommon,
  emptyConfigs,
  isEmpty,
  leafSettings,
} from './settings-layers.ts'
import { shapeConfigs } from './settings-shape.ts'
import { type NewRow, type Step, keptAside, merged, moved } from './steps.ts'

type SettingsLayer = { id: string; projectId: string; tenantId: string | null; applicationId: string | null }

/** Returns a settings row, and its audit event unless it is empty. */
export function settingsRow(
  layer: SettingsLayer,
  configs: Configs,
): { rows: NewRow[]; events: AuditEvent[] } {
  const [backend, frontend] = [JSON.stringify(configs.backend), JSON.stringify(configs.frontend)]
  const values = {
    id: layer.id,
    project_id: layer.projectId,
    tenant_id: layer.tenantId,
    application_id: layer.applicationId,
    backend_module_config: configs.backend,
    frontend_module_config: configs.frontend,
    content_bytes: Buffer.byteLength(backend) + Buffer.byteLength(frontend),
  }
  return {
    rows: [{ table: 'settings', values }],
    events: isEmpty(configs) ? [] : [settingsEvent('create', null, { ...layer, ...configs })],
  }
}

/** Yields settings rows with the layers above them. A second row of the same owner does not count as a layer. */
async function* layered(rows: AsyncIterable<OldSettings>) {
  let [project, tenant] = [emptyConfigs(), emptyConfigs()]
  let [tenantId, owner] = ['', '']
  for await (const row of rows) {
    const { configs, leftOut } = shapeConfigs(row.backend_module_config, row.frontend_module_config)
    const isRepeated = owner === ownerOf(row)
    owner = ownerOf(row)
    if (row.tenant !== tenantId) [tenantId, tenant] = [row.tenant, emptyConfigs()]
    if (!isRepeated && row.application_id === null) {
      if (row.tenant === '') project = configs
      else tenant = configs
    }
    yield { row, configs, leftOut, isRepeated, project, tenant }
  }
}
const ownerOf = (row: OldSettings): string => JSON.stringify([row.tenant, row.application_id])

/** Returns the settings of each application. Reads all rows once, and keeps only what the clones of a group share. */
export async function readCommonSettings(
  groups: readonly Group[],
  rows: AsyncIterable<OldSettings>,
): Promise<Map<Group, Configs>> {
  const groupOf = new Map(groups.flatMap((group) => group.clones.map((clone) => [clone.id, group] as const)))
  const found = new Map<Group, { common: Common; clones: number }>()
  for await (const { row, configs, isRepeated, project, tenant } of layered(rows)) {
    const group = row.application_id === null ? undefined : groupOf.get(row.application_id)
    if (group === undefined || isRepeated || row.tenant === '') continue
    const state = found.get(group) ?? { common: createCommon(), clones: 0 }
    found.set(group, { ...state, clones: state.clones + 1 })
    addClone(state.common, configs, project, tenant)
  }
  return new Map(
    groups.map((group) => {
      const state = found.get(group)
      const ofTenants = group.clones.filter((clone) => clone.tenant_id !== null).length
      // A clone without settings shares nothing with the others.
      const isWhole = state !== undefined && state.clones === ofTenants
      return [group, (isWhole ? state.common.configs : null) ?? emptyConfigs()]
    }),
  )
}

/** Plans the settings of a project, of its tenants, and of applications in tenants. */
export async function* planSettings(
  project: Project,
  common: ReadonlyMap<Group, Configs>,
  rows: AsyncIterable<OldSettings>,
): AsyncGenerator<Step, void, void> {
  for await (const { row, configs, leftOut, isRepeated, ...above } of layered(rows)) {
    const clone = row.application_id === null ? null : project.clones.get(row.application_id)
    const tenant = row.tenant === '' ? null : project.tenants.get(row.tenant)
    if (isRepeated || clone === undefined || tenant === undefined) {
      yield keptAside('settings', row.id, 'settings-owner', remainsOf(row))
      continue
    }
    if (clone?.tenant === null) {
      yield keptAside('settings', row.id, 'template-settings', remainsOf(row))
      continue
    }
    const content =
      leftOut.length === 0
        ? {}
        : { rules: ['settings-shape' as const], detail: { leftOut: leftOut.slice(0, 50) } }
    const application = clone === null ? null : (common.get(clone.group) ?? emptyConfigs())
    const own = application === null ? configs : leafSettings({ ...above, application, clone: configs })
    if (clone !== null && isEmpty(own)) {
      yield merged('settings', row.id, applicationSettingsId(clone.applicationId), content)
      continue
    }
    const id = keptId('settings', row.id)
    const layer = {
      id,
      projectId: project.id,
      tenantId: tenant?.id ?? null,
      applicationId: clone?.applicationId ?? null,
    }
    yield moved('settings', row.id, id, { ...content, ...settingsRow(layer, own) })
  }
}
