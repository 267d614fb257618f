// Settings that all clones of an application share move to the application. The other settings stay with each
// tenant.
import { createSettingsEvent } from '@manager/manager/rules'
import type { AuditEvent } from '@manager/manager/storage'
import type { Group } from './groups.ts'
import { toNewId } from './ids.ts'
import { type Project, deriveApplicationSettingsId } from './project.ts'
import { getRemainder } from './remains.ts'
import type { OldSettings } from './rows.ts'
import {
  type CommonSettings,
  type Configs,
  addClone,
  createCommonSettings,
  createEmptyConfigs,
  isEmpty,
  computeLeafSettings,
} from './settings-layers.ts'
import { shapeConfigs } from './settings-shape.ts'
import { type NewRow, type Step, createSkippedStep, createMergedStep, createMovedStep } from './steps.ts'

type SettingsLayer = { id: string; projectId: string; tenantId: string | null; applicationId: string | null }

/** Creates a settings row, and its audit event unless the settings are empty. */
export function createSettingsRow(
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
    events: isEmpty(configs) ? [] : [createSettingsEvent('create', null, { ...layer, ...configs })],
  }
}

/** Yields settings rows with the layers above them. If an owner has several rows, only the first row is a layer. */
async function* readLayered(rows: AsyncIterable<OldSettings>) {
  let [project, tenant] = [createEmptyConfigs(), createEmptyConfigs()]
  let [tenantId, owner] = ['', '']
  for await (const row of rows) {
    const { configs, omittedFields } = shapeConfigs(row.backend_module_config, row.frontend_module_config)
    const isRepeated = owner === formatOwner(row)
    owner = formatOwner(row)
    if (row.tenant !== tenantId) [tenantId, tenant] = [row.tenant, createEmptyConfigs()]
    if (!isRepeated && row.application_id === null) {
      if (row.tenant === '') project = configs
      else tenant = configs
    }
    yield { row, configs, omittedFields, isRepeated, project, tenant }
  }
}
const formatOwner = (row: OldSettings): string => JSON.stringify([row.tenant, row.application_id])

/**
 * Returns the common settings for each group of clones. Reads all rows once and keeps only the settings that the
 * clones share.
 */
export async function readCommonSettings(
  groups: readonly Group[],
  rows: AsyncIterable<OldSettings>,
): Promise<Map<Group, Configs>> {
  const groupsByClone = new Map(
    groups.flatMap((group) => group.clones.map((clone) => [clone.id, group] as const)),
  )
  const statesByGroup = new Map<Group, { common: CommonSettings; clones: number }>()
  for await (const { row, configs, isRepeated, project, tenant } of readLayered(rows)) {
    const group = row.application_id === null ? undefined : groupsByClone.get(row.application_id)
    if (group === undefined || isRepeated || row.tenant === '') continue
    const state = statesByGroup.get(group) ?? { common: createCommonSettings(), clones: 0 }
    statesByGroup.set(group, { ...state, clones: state.clones + 1 })
    addClone(state.common, configs, project, tenant)
  }
  return new Map(
    groups.map((group) => {
      const state = statesByGroup.get(group)
      const tenantCloneCount = group.clones.filter((clone) => clone.tenant_id !== null).length
      // If a clone has no settings, no settings are common to all clones.
      const isComplete = state !== undefined && state.clones === tenantCloneCount
      return [group, (isComplete ? state.common.configs : null) ?? createEmptyConfigs()]
    }),
  )
}

/** Plans the settings of a project, of its tenants, and of applications in tenants. */
export async function* planSettings(
  project: Project,
  common: ReadonlyMap<Group, Configs>,
  rows: AsyncIterable<OldSettings>,
): AsyncGenerator<Step, void, void> {
  for await (const { row, configs, omittedFields, isRepeated, ...above } of readLayered(rows)) {
    const clone = row.application_id === null ? null : project.clones.get(row.application_id)
    const tenant = row.tenant === '' ? null : project.tenants.get(row.tenant)
    if (isRepeated || clone === undefined || tenant === undefined) {
      yield createSkippedStep('settings', row.id, 'settings-owner', getRemainder(row))
      continue
    }
    if (clone?.tenant === null) {
      yield createSkippedStep('settings', row.id, 'template-settings', getRemainder(row))
      continue
    }
    const content =
      omittedFields.length === 0
        ? {}
        : { rules: ['settings-shape' as const], detail: { leftOut: omittedFields.slice(0, 50) } }
    const application = clone === null ? null : (common.get(clone.group) ?? createEmptyConfigs())
    const ownConfigs =
      application === null ? configs : computeLeafSettings({ ...above, application, clone: configs })
    if (clone !== null && isEmpty(ownConfigs)) {
      yield createMergedStep('settings', row.id, deriveApplicationSettingsId(clone.applicationId), content)
      continue
    }
    const id = toNewId('settings', row.id)
    const layer = {
      id,
      projectId: project.id,
      tenantId: tenant?.id ?? null,
      applicationId: clone?.applicationId ?? null,
    }
    yield createMovedStep('settings', row.id, id, { ...content, ...createSettingsRow(layer, ownConfigs) })
  }
}
