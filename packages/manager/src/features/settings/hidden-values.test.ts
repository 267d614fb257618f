// Tests the values of effective settings that a more specific layer hides.
import { expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type LayerName, layerNames } from './layers.pure.ts'

const { service, admin, project, person } = useProject()

/** Stores both parts of the settings of a layer. */
const save = (layer: LayerName, backend: object, frontend: object) => {
  const { id, tenantId, applicationId } = project
  const isOfTenant = layer === 'tenant' || layer === 'tenant2application'
  const isOfApplication = layer === 'application' || layer === 'tenant2application'
  return service.sql.query(
    `insert into settings (project_id, tenant_id, application_id, backend_module_config, frontend_module_config)
     values ($1, $2, $3, $4, $5) on conflict on constraint settings_layer_key do update
     set backend_module_config = excluded.backend_module_config, frontend_module_config = excluded.frontend_module_config`,
    [id, isOfTenant ? tenantId : null, isOfApplication ? applicationId : null, backend, frontend],
  )
}
const read = (caller: Person) =>
  service.query(
    caller,
    `query($applicationId: ID!, $tenantId: ID!) { merged: effectiveSettings(applicationId: $applicationId, tenantId: $tenantId) {
      backend { EnabledModules { value hidden { value layer } } KeyValuePairs { Key Value hidden { value layer } } }
      frontend { EnabledThemes { value hidden { value layer } } DefaultTheme { value layer hidden { value layer } }
        DefaultLocale { value layer hidden { value } } KeyValuePairs { Key Value hidden { value layer } } } } }`,
    { applicationId: project.applicationId, tenantId: project.tenantId },
  )

test('effective settings show the values that a more specific layer hides, the most specific first', async () => {
  for (const [index, layer] of layerNames.entries()) {
    // The application sets no theme, and an empty value of a key hides other values.
    const EnabledThemes = layer === 'application' ? [] : [layer, `${index}`]
    const KeyValuePairs = [
      { Key: 'all', Value: layer === 'tenant2application' ? '' : layer },
      ...(layer === 'tenant' ? [] : [{ Key: 'some', Value: layer }]),
      { Key: `only ${layer}`, Value: 'x' },
    ]
    const DefaultTheme = index < 2 ? layer : ''
    await save(
      layer,
      { EnabledModules: index === 0 ? ['menu'] : [], KeyValuePairs },
      { EnabledThemes, DefaultTheme, KeyValuePairs },
    )
  }
  const { data, error } = await read(admin)
  expect(error).toBeNull()
  const fromLayers = (...layers: LayerName[]) => layers.map((layer) => ({ value: layer, layer }))
  const pairs = [
    { Key: 'all', Value: '', hidden: fromLayers('tenant', 'application', 'project') },
    { Key: 'some', Value: 'tenant2application', hidden: fromLayers('application', 'project') },
    ...layerNames.map((name) => ({ Key: `only ${name}`, Value: 'x', hidden: [] })),
  ]
  expect(data.merged).toEqual({
    backend: { EnabledModules: { value: ['menu'], hidden: [] }, KeyValuePairs: pairs },
    frontend: {
      EnabledThemes: {
        value: ['tenant2application', '3'],
        hidden: [
          { value: ['tenant', '2'], layer: 'tenant' },
          { value: ['project', '0'], layer: 'project' },
        ],
      },
      DefaultTheme: { value: 'application', layer: 'application', hidden: fromLayers('project') },
      DefaultLocale: { value: '', layer: null, hidden: [] },
      KeyValuePairs: pairs,
    },
  })
})

test('members of a tenant cannot read hidden values of other layers', async () => {
  const guest = await person('guest')
  await seedMember(service.sql, guest, 'owner', { projectId: project.id, tenantId: project.tenantId })
  expect((await read(guest)).error).toContain('not permitted')
})
