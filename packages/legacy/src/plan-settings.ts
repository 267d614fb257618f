// Settings: what all clones of an application have in common becomes the application's, the rest stays with each tenant.
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
  emptyConfigs,
  isEmpty,
  leafOf,
  nothingYet,
} from './settings-layers.ts'
import { shapeConfigs } from './settings-shape.ts'
import { type NewRow, type Step, keptAside, merged, moved } from './steps.ts'

type Place = { id: string; projectId: string; tenantId: string | null; applicationId: string | null }

/** A settings row, and its audit row if it holds anything. */
export function settingsRow(place: Place, configs: Configs): { rows: NewRow[]; events: AuditEvent[] } {
  const [backend, frontend] = [JSON.stringify(configs.backend), JSON.stringify(configs.frontend)]
  const values = {
    id: place.id,
    project_id: place.projectId,
    tenant_id: place.tenantId,
    application_id: place.applicationId,
    backend_module_config: configs.backend,
    frontend_module_config: configs.frontend,
    content_bytes: Buffer.byteLength(backend) + Buffer.byteLength(frontend),
  }
  return {
    rows: [{ table: 'settings', values }],
    events: isEmpty(configs) ? [] : [settingsEvent('create', null, { ...place, ...configs })],
  }
}

/** The settings of a project, row by row, with what stands above each; the second row of an owner is not one of them. */
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

/** What each application gets. Reads the settings once, and keeps what is common to the clones of each group. */
export async function readCommonSettings(
  groups: readonly Group[],
  rows: AsyncIterable<OldSettings>,
): Promise<Map<Group, Configs>> {
  const groupOf = new Map(groups.flatMap((group) => group.clones.map((clone) => [clone.id, group] as const)))
  const found = new Map<Group, { common: Common; clones: number }>()
  for await (const { row, configs, isRepeated, project, tenant } of layered(rows)) {
    const group = row.application_id === null ? undefined : groupOf.get(row.application_id)
    if (group === undefined || isRepeated || row.tenant === '') continue
    const state = found.get(group) ?? { common: nothingYet(), clones: 0 }
    found.set(group, { ...state, clones: state.clones + 1 })
    addClone(state.common, configs, project, tenant)
  }
  return new Map(
    groups.map((group) => {
      const state = found.get(group)
      const ofTenants = group.clones.filter((clone) => clone.tenant_id !== null).length
      // One clone without settings has nothing in common with the others.
      const isWhole = state !== undefined && state.clones === ofTenants
      return [group, (isWhole ? state.common.configs : null) ?? emptyConfigs()]
    }),
  )
}

/** The settings of a project, its tenants, and their rows for applications. */
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
    const made =
      leftOut.length === 0
        ? {}
        : { rules: ['settings-shape' as const], detail: { leftOut: leftOut.slice(0, 50) } }
    const application = clone === null ? null : (common.get(clone.group) ?? emptyConfigs())
    const own = application === null ? configs : leafOf({ ...above, application, clone: configs })
    if (clone !== null && isEmpty(own)) {
      yield merged('settings', row.id, applicationSettingsId(clone.applicationId), made)
      continue
    }
    const id = keptId('settings', row.id)
    const place = {
      id,
      projectId: project.id,
      tenantId: tenant?.id ?? null,
      applicationId: clone?.applicationId ?? null,
    }
    yield moved('settings', row.id, id, { ...made, ...settingsRow(place, own) })
  }
}
