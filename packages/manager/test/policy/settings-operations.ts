// Operations on settings and language packs.
import { type Operation, type Rest, op } from './operation.ts'
import { developers, projectRoles, tenantManagers } from './principals.ts'
import { fresh, newSlug } from './world.ts'

const settingsOf = (owner: 'project' | 'tenant' | 'application' | 'row'): Rest => ({
  make: (world, target) => fresh.settings(world, target, owner),
})
const filledSettingsOf = (owner: 'project' | 'tenant'): Rest => ({
  make: (world, target) => fresh.filledSettings(world, target, owner),
})
/**
 * Adds settings to the seeded application in the tenant, and links another application without settings to the
 * tenant.
 */
const copied: Rest = {
  make: async (world, target) => {
    await fresh.filledSettings(world, target, 'row')
    return fresh.row(world, target)
  },
}
const row: Rest = { make: fresh.row }
const pack: Rest = { make: fresh.languagePack }
const tenantReaders = [...projectRoles, ...tenantManagers]
const tenantWriters = [...developers, ...tenantManagers]
const backendUpdate = (id: string): string =>
  `mutation { updateBackendModuleConfig(id: "${id}", input: {EnabledModules: ["${newSlug()}"]}) { id } }`
const frontendUpdate = (id: string): string =>
  `mutation { updateFrontendModuleConfig(id: "${id}", input: {DefaultTheme: "${newSlug()}"}) { id } }`
const keysUpdate = (projectId: string, id: string): string =>
  `mutation { setSettingsKeys(projectId: "${projectId}", changes: [{settingsId: "${id}", part: "frontend", set: [{Key: "a", Value: "${newSlug()}"}]}]) { id } }`
const pinsUpdate = (projectId: string, id: string): string =>
  `mutation { setPiletPins(projectId: "${projectId}", changes: [{settingsId: "${id}", set: [{name: "${newSlug()}", version: "1.0.0"}]}]) { id } }`

export const settingsOperations: Operation[] = [
  op('Query.settings', 'projectSettings', projectRoles, (t) => `{ settings(project: "${t.id}") { id } }`),
  op(
    'Query.settings',
    'projectSettings',
    projectRoles,
    (t) => `{ settings(application: "${t.applicationId}") { id } }`,
  ),
  op('Query.settings', 'settings', tenantReaders, (t) => `{ settings(tenant: "${t.tenantId}") { id } }`),
  op(
    'Query.settings',
    'settings',
    tenantReaders,
    (t) => `{ settings(tenant2application: "${t.tenant2ApplicationId}") { id } }`,
    { make: (world, target) => fresh.settings(world, target, 'row') },
  ),
  op(
    'Query.effectiveSettings',
    'row',
    projectRoles,
    (t) =>
      `{ effectiveSettings(applicationId: "${t.applicationId}", tenantId: "${t.tenantId}") { backend { KeyValuePairs { Key } } } }`,
  ),
  op(
    'Tenant2Application.settings',
    'row',
    tenantReaders,
    (t) => `{ tenant2Applications(tenantId: "${t.tenantId}") { settings { id } } }`,
  ),
  op(
    'Mutation.updateBackendModuleConfig',
    'projectSettings',
    developers,
    (_, id) => backendUpdate(id),
    settingsOf('project'),
  ),
  op(
    'Mutation.updateBackendModuleConfig',
    'settings',
    tenantWriters,
    (_, id) => backendUpdate(id),
    settingsOf('tenant'),
  ),
  op(
    'Mutation.updateFrontendModuleConfig',
    'projectSettings',
    developers,
    (_, id) => frontendUpdate(id),
    settingsOf('application'),
  ),
  op(
    'Mutation.updateFrontendModuleConfig',
    'settings',
    tenantWriters,
    (_, id) => frontendUpdate(id),
    settingsOf('row'),
  ),
  op(
    'Mutation.setSettingsKeys',
    'projectSettings',
    developers,
    (t, id) => keysUpdate(t.id, id),
    settingsOf('application'),
  ),
  op(
    'Mutation.setSettingsKeys',
    'settings',
    tenantWriters,
    (t, id) => keysUpdate(t.id, id),
    settingsOf('row'),
  ),
  op(
    'Mutation.setPiletPins',
    'projectSettings',
    developers,
    (t, id) => pinsUpdate(t.id, id),
    settingsOf('application'),
  ),
  op(
    'Mutation.setPiletPins',
    'settings',
    tenantWriters,
    (t, id) => pinsUpdate(t.id, id),
    settingsOf('tenant'),
  ),
  op(
    'Mutation.deleteBackendSettings',
    'projectSettings',
    developers,
    (_, id) => `mutation { deleteBackendSettings(id: "${id}") }`,
    filledSettingsOf('project'),
  ),
  op(
    'Mutation.deleteFrontendSettings',
    'settings',
    tenantWriters,
    (_, id) => `mutation { deleteFrontendSettings(id: "${id}") }`,
    filledSettingsOf('tenant'),
  ),
  op(
    'Mutation.ensureTenant2ApplicationSettings',
    'row',
    tenantWriters,
    (_, id) => `mutation { ensureTenant2ApplicationSettings(tenant2ApplicationId: "${id}") { id } }`,
    row,
  ),
  op(
    'Mutation.copyTenant2ApplicationConfig',
    'row',
    tenantWriters,
    (t, id) => copy(t.tenant2ApplicationId, id),
    copied,
  ),
  op('Query.languagePacks', 'project', projectRoles, (t) => `{ languagePacks(project: "${t.id}") { id } }`),
  op(
    'Query.languagePack',
    'languagePack',
    projectRoles,
    (_, id) => `{ languagePack(id: "${id}") { id } }`,
    pack,
  ),
  op(
    'LanguagePack.content',
    'project',
    projectRoles,
    (t) => `{ languagePacks(project: "${t.id}") { content { Key } } }`,
    pack,
  ),
  op(
    'Mutation.createLanguagePack',
    'project',
    developers,
    (t, id) =>
      `mutation { createLanguagePack(projectId: "${t.id}", input: {name: "en-${id.slice(1)}"}) { id } }`,
  ),
  op(
    'Mutation.updateLanguagePackContent',
    'languagePack',
    developers,
    (_, id) =>
      `mutation { updateLanguagePackContent(id: "${id}", input: {content: [{Key: "a", Value: "b"}]}) { id } }`,
    pack,
  ),
  op(
    'Mutation.setLanguagePackKeys',
    'project',
    developers,
    (t, id) =>
      `mutation { setLanguagePackKeys(projectId: "${t.id}", changes: [{packId: "${id}", set: [{Key: "a", Value: "b"}]}]) { id } }`,
    pack,
  ),
  op(
    'Mutation.deleteLanguagePack',
    'languagePack',
    developers,
    (_, id) => `mutation { deleteLanguagePack(id: "${id}") }`,
    pack,
  ),
]

function copy(source: string, target: string): string {
  const input = `{sourceTenant2ApplicationId: "${source}", targetTenant2ApplicationId: "${target}"}`
  return `mutation { copyTenant2ApplicationConfig(input: ${input}) { id } }`
}
