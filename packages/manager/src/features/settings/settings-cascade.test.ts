// These tests cover the cascade end to end: values set through GraphQL are merged in GraphQL and in the frontend
// configuration route.
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type SeededProject, seedProject, seedTenant, seedUser } from '@manager/harness/seed.ts'
import { type EffectiveSettings, type Layers, mergeLayers } from './layers.pure.ts'

type Configs = NonNullable<Layers['project']>
type LayerName = keyof Layers
type Ids = Record<LayerName, string>

const layerNames: readonly LayerName[] = ['project', 'application', 'tenant', 'tenant2application']

let service: TestApp
let admin: Person

beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

/** Returns the settings ids of the four layers. Creates the application's settings in the tenant. */
const idsOf = async (project: SeededProject): Promise<Ids> => {
  const { data, error } = await service.query(
    admin,
    `mutation($row: ID!) { leaf: ensureTenant2ApplicationSettings(tenant2ApplicationId: $row) { id } }`,
    { row: project.tenant2ApplicationId },
  )
  expect(error).toBeNull()
  const others = await service.query(
    admin,
    `query($project: ID!, $application: ID!, $tenant: ID!) {
      project: settings(project: $project) { id } tenant: settings(tenant: $tenant) { id }
      application: settings(application: $application) { id }
    }`,
    { project: project.id, application: project.applicationId, tenant: project.tenantId },
  )
  const { project: ofProject, application, tenant } = others.data as Record<string, { id: string }>
  return {
    project: ofProject?.id ?? '',
    application: application?.id ?? '',
    tenant: tenant?.id ?? '',
    tenant2application: data.leaf.id as string,
  }
}

const update = (part: 'Backend' | 'Frontend', id: string, input: object) =>
  service.query(
    admin,
    `mutation($id: ID!, $input: Update${part}ModuleConfigInput!) { update${part}ModuleConfig(id: $id, input: $input) { id } }`,
    { id, input },
  )

/** Stores both parts of several layers in one GraphQL document. */
const save = async (ids: Ids, layers: Layers) => {
  const named = layerNames.flatMap((name) =>
    layers[name] === undefined ? [] : [[name, layers[name]] as const],
  )
  const parts = named.flatMap(([name, configs]) => [
    { name: `b_${name}`, type: 'Backend', id: ids[name], input: configs.backend },
    { name: `f_${name}`, type: 'Frontend', id: ids[name], input: configs.frontend },
  ])
  if (parts.length === 0) return
  const { error } = await service.query(
    admin,
    `mutation(${parts.map(({ name, type }) => `$${name}: Update${type}ModuleConfigInput!`).join(', ')}) {
      ${parts.map(({ name, type, id }) => `${name}: update${type}ModuleConfig(id: "${id}", input: $${name}) { id }`).join('\n')}
    }`,
    Object.fromEntries(parts.map(({ name, input }) => [name, input])),
  )
  expect(error).toBeNull()
}

const effective = ({ applicationId, tenantId }: { applicationId: string; tenantId: string }) =>
  service.query(
    admin,
    `query($applicationId: ID!, $tenantId: ID!) { merged: effectiveSettings(applicationId: $applicationId, tenantId: $tenantId) {
      backend { EnabledModules { value layer } KeyValuePairs { Key Value layer } }
      frontend {
        EnabledThemes { value layer } DefaultTheme { value layer } EnabledLocales { value layer }
        DefaultLocale { value layer } KeyValuePairs { Key Value layer }
      } } }`,
    { applicationId, tenantId },
  )

const frontendConfig = async ({ applicationId, tenantId }: SeededProject): Promise<unknown> => {
  const response = await fetch(`${service.url}/api/frontend-config/${applicationId}/${tenantId}`, {
    headers: { 'x-proxy-auth': proxySecret },
  })
  expect(response.status).toBe(200)
  return response.json()
}
const configOf = (projectId: string, { backend, frontend }: EffectiveSettings) => ({
  config: {
    enabled_modules: backend.EnabledModules.value,
    enabled_themes: frontend.EnabledThemes.value,
    default_theme: frontend.DefaultTheme.value,
    enabled_locales: frontend.EnabledLocales.value,
    default_locale: frontend.DefaultLocale.value,
    key_value_pairs: frontend.KeyValuePairs.map(({ Key, Value }) => ({ key: Key, value: Value })),
  },
  project_id: projectId,
})

const anyText = fc.oneof(
  fc.constantFrom('', 'a', '"\\/', 'ü 🙂', "'; --", '<script>', '\t\r\n', '{"a": 1}', '\u2028'),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)
// A blank default is stored as an empty string.
const anyDefault = anyText.map((text) => (text.trim() === '' ? '' : text))
const anyNames = fc.uniqueArray(fc.constantFrom('x', 'y', 'z', '@acme/menu', '__proto__', 'ü'), {
  maxLength: 4,
})
const anyPairs = fc.uniqueArray(
  fc.record({
    Key: fc.oneof(
      fc.constantFrom(
        'a',
        'b',
        'c',
        'A',
        'a.b',
        '__proto__',
        'constructor',
        'toString',
        'hasOwnProperty',
        '0',
        '"',
      ),
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 3 }).filter((key) => key.trim() !== ''),
    ),
    Value: anyText,
  }),
  { selector: ({ Key }) => Key, maxLength: 6 },
)
const anyConfigs: fc.Arbitrary<Configs> = fc.record({
  backend: fc.record({ EnabledModules: anyNames, KeyValuePairs: anyPairs }),
  frontend: fc.record({
    EnabledThemes: anyNames,
    DefaultTheme: anyDefault,
    EnabledLocales: anyNames,
    DefaultLocale: anyDefault,
    KeyValuePairs: anyPairs,
  }),
})
// An omitted layer keeps the values of the previous run.
const anyLayers: fc.Arbitrary<Layers> = fc.record(
  { project: anyConfigs, application: anyConfigs, tenant: anyConfigs, tenant2application: anyConfigs },
  { requiredKeys: [] },
)

describe('what is stored in the layers', () => {
  test('[settings.cascade-order] [settings.cascade-values] [settings.cascade-pairs] [settings.effective] [frontend-config.sources] comes out merged, right after every change', async () => {
    const project = await seedProject(service.sql, 'random')
    const ids = await idsOf(project)
    const stored: Layers = {}
    await fc.assert(
      fc.asyncProperty(anyLayers, async (layers) => {
        await save(ids, layers)
        Object.assign(stored, layers)
        const merged = mergeLayers(stored)
        const [byGraphql, byRoute] = await Promise.all([effective(project), frontendConfig(project)])
        expect(byGraphql.error).toBeNull()
        expect(byGraphql.data.merged).toEqual(merged)
        expect(byRoute).toEqual(configOf(project.id, merged))
      }),
      // Runs depend on each other, so shrinking would not produce a valid counterexample.
      { numRuns: 60, endOnFailure: true },
    )
  })

  test('[settings.cascade-order] is told apart by layer: the most specific is taken away, and the next one shows', async () => {
    const project = await seedProject(service.sql, 'peeled')
    const ids = await idsOf(project)
    for (const name of layerNames)
      await update('Frontend', ids[name], {
        DefaultTheme: name,
        EnabledThemes: [name, 'x'],
        KeyValuePairs: [{ Key: 'from', Value: name }],
      })
    const remaining: (LayerName | null)[] = layerNames.toReversed()
    for (const layer of [...remaining, null]) {
      const { data } = await effective(project)
      const { EnabledThemes, DefaultTheme, KeyValuePairs } = data.merged
        .frontend as EffectiveSettings['frontend']
      expect([EnabledThemes, DefaultTheme, KeyValuePairs]).toEqual(
        layer === null
          ? [{ value: [], layer }, { value: '', layer }, []]
          : [{ value: [layer, 'x'], layer }, { value: layer, layer }, [{ Key: 'from', Value: layer, layer }]],
      )
      if (layer === null) break
      const emptied = await service.query(admin, `mutation { deleteFrontendSettings(id: "${ids[layer]}") }`)
      expect(emptied.data).toEqual({ deleteFrontendSettings: true })
    }
  })

  test('[settings.cascade-application] of an application only the fields of its module config count, whatever else its rows hold', async () => {
    const project = await seedProject(service.sql, 'module-fields')
    const ids = await idsOf(project)
    await update('Frontend', ids.application, { DefaultTheme: 'dark' })
    await update('Backend', ids.application, { EnabledModules: ['menu'] })
    await service.query(
      admin,
      `mutation { updateApplication(id: "${project.applicationId}", input: {name: "Shown nowhere", description: "Shown nowhere"}) { id } }`,
    )
    await service.sql.query(
      `update settings set frontend_module_config = frontend_module_config || $2,
         backend_module_config = backend_module_config || $2
       where id = $1`,
      [
        ids.application,
        { Secret: 'Shown nowhere', enabled_modules: ['Shown nowhere'], project_id: 'Shown nowhere' },
      ],
    )
    const merged = mergeLayers({
      application: {
        backend: { EnabledModules: ['menu'], KeyValuePairs: [] },
        frontend: {
          EnabledThemes: [],
          DefaultTheme: 'dark',
          EnabledLocales: [],
          DefaultLocale: '',
          KeyValuePairs: [],
        },
      },
    })
    const read = await service.query(
      admin,
      `{ row: settings(application: "${project.applicationId}") { frontendSetting { moduleConfig { DefaultTheme } } } }`,
    )
    expect(read.data.row).toEqual({ frontendSetting: { moduleConfig: { DefaultTheme: 'dark' } } })
    expect((await effective(project)).data.merged).toEqual(merged)
    expect(await frontendConfig(project)).toEqual(configOf(project.id, merged))
  })

  test('[settings.cascade-order] stays within its project, application and tenant, also when many are asked for at once', async () => {
    const places: { applicationId: string; tenantId: string; expected: unknown[] }[] = []
    for (const slug of ['left', 'right']) {
      const project = await seedProject(service.sql, slug)
      const ids = await idsOf(project)
      const [application, tenant] = [randomUUID(), randomUUID()]
      await seedTenant(service.sql, project.id, tenant, `${slug}-second`)
      await service.sql.query(
        'insert into applications (id, project_id, name, slug) values ($1, $2, $3, $3)',
        [application, project.id, `${slug}-second`],
      )
      await service.sql.query(
        `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
         values (gen_random_uuid(), $1, $2, $3, true), (gen_random_uuid(), $1, $2, $4, true), (gen_random_uuid(), $1, $5, $4, true)`,
        [project.id, tenant, project.applicationId, application, project.tenantId],
      )
      for (const name of layerNames)
        await update('Backend', ids[name], { KeyValuePairs: [{ Key: name, Value: slug }] })
      for (const tenantId of [project.tenantId, tenant])
        for (const applicationId of [project.applicationId, application]) {
          const [isTenants, isApplications] = [tenantId !== tenant, applicationId !== application]
          const setting = layerNames.filter(
            (name) =>
              (isTenants || !['tenant', 'tenant2application'].includes(name)) &&
              (isApplications || !['application', 'tenant2application'].includes(name)),
          )
          const expected = setting.map((layer) => ({ Key: layer, Value: slug, layer }))
          places.push({ applicationId, tenantId, expected })
        }
    }
    // One statement serves the whole document. The order of the fields decides which row provides the shared layers.
    const upper = ({ applicationId, tenantId, expected }: (typeof places)[number]) => ({
      applicationId: applicationId.toUpperCase(),
      tenantId: tenantId.toUpperCase(),
      expected,
    })
    for (const asked of [
      places,
      places.toReversed(),
      [...places.slice(3), ...places.slice(0, 3)],
      // Ids are case-insensitive.
      places.flatMap((place) => [place, upper(place)]),
      places.flatMap((place) => [upper(place), place]),
    ]) {
      const fields = asked.map(
        ({ applicationId, tenantId }, index) =>
          `p${index}: effectiveSettings(applicationId: "${applicationId}", tenantId: "${tenantId}") { backend { KeyValuePairs { Key Value layer } } }`,
      )
      const { data, error } = await service.query(admin, `{ ${fields.join('\n')} }`)
      expect(error).toBeNull()
      expect(data).toEqual(
        Object.fromEntries(
          asked.map(({ expected }, index) => [`p${index}`, { backend: { KeyValuePairs: expected } }]),
        ),
      )
    }
  })
})

describe('effective settings', () => {
  test('[settings.effective] each value comes with the layer it is from, and with none where no layer sets it', async () => {
    const own = await seedProject(service.sql, 'merged')
    const unset = { list: { value: [], layer: null }, text: { value: '', layer: null } }
    expect((await effective(own)).data.merged).toEqual({
      backend: { EnabledModules: unset.list, KeyValuePairs: [] },
      frontend: {
        EnabledThemes: unset.list,
        DefaultTheme: unset.text,
        EnabledLocales: unset.list,
        DefaultLocale: unset.text,
        KeyValuePairs: [],
      },
    })
    const ids = await idsOf(own)
    const pair = (Key: string, Value: string) => ({ Key, Value })
    const set = async (id: string, part: 'Backend' | 'Frontend', input: object) =>
      expect((await update(part, id, input)).error).toBeNull()
    await set(ids.project, 'Backend', { EnabledModules: ['a', 'b'] })
    await set(ids.project, 'Frontend', {
      DefaultTheme: 'p',
      KeyValuePairs: [pair('k', 'p'), pair('only', 'p')],
    })
    await set(ids.application, 'Frontend', { EnabledThemes: ['x', 'y'], DefaultTheme: 'a' })
    await set(ids.tenant, 'Frontend', { EnabledThemes: ['y'], KeyValuePairs: [pair('k', 't')] })
    // A blank string counts as not set.
    await set(ids.tenant2application, 'Frontend', {
      DefaultTheme: ' \t',
      DefaultLocale: 'de',
      KeyValuePairs: [pair('k', '')],
    })
    await set(ids.tenant2application, 'Backend', { KeyValuePairs: [pair('url', 'l')] })
    expect((await effective(own)).data.merged).toEqual({
      backend: {
        EnabledModules: { value: ['a', 'b'], layer: 'project' },
        KeyValuePairs: [{ Key: 'url', Value: 'l', layer: 'tenant2application' }],
      },
      frontend: {
        EnabledThemes: { value: ['y'], layer: 'tenant' },
        DefaultTheme: { value: 'a', layer: 'application' },
        EnabledLocales: unset.list,
        DefaultLocale: { value: 'de', layer: 'tenant2application' },
        KeyValuePairs: [
          { Key: 'k', Value: '', layer: 'tenant2application' },
          { Key: 'only', Value: 'p', layer: 'project' },
        ],
      },
    })
  })

  test('[settings.effective] an application that is switched off for the tenant still answers; one that is not joined does not', async () => {
    const [own, other] = [await seedProject(service.sql, 'off'), await seedProject(service.sql, 'far')]
    await service.sql.query('update tenant2applications set enabled = false where id = $1', [
      own.tenant2ApplicationId,
    ])
    const ids = await idsOf(own)
    await update('Frontend', ids.tenant, { DefaultTheme: 'dark' })
    const { data } = await effective(own)
    expect(data.merged.frontend.DefaultTheme).toEqual({ value: 'dark', layer: 'tenant' })
    for (const [applicationId, tenantId] of [
      [own.applicationId, other.tenantId],
      [other.applicationId, own.tenantId],
      [own.tenantId, own.applicationId],
      [randomUUID(), own.tenantId],
      ['nothing', 'nothing'],
    ] as const)
      expect((await effective({ applicationId, tenantId })).error).toBe('tenant2Application not found')
  })

  test('[settings.effective] what one document asks for of them has a limit', async () => {
    const own = await seedProject(service.sql, 'heavy')
    const ids = await idsOf(own)
    const KeyValuePairs = [{ Key: 'k', Value: 'v'.repeat(2 * 1_048_576 - 1) }]
    for (const part of ['Backend', 'Frontend'] as const) await update(part, ids.tenant, { KeyValuePairs })
    const ask = (times: number) => {
      const place = `applicationId: "${own.applicationId}", tenantId: "${own.tenantId}"`
      const fields = Array.from(
        { length: times },
        (_, index) => `a${index}: effectiveSettings(${place}) { backend { EnabledModules { value } } }`,
      )
      return service.query(admin, `{ ${fields.join('\n')} }`)
    }
    expect((await ask(3)).error).toBeNull()
    expect((await ask(4)).error).toBe(
      'the contents of this response would exceed 16777216 bytes; request smaller pages or fewer fields',
    )
  })
})
