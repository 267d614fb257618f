// These tests cover GET /api/frontend-config/…, the frontend configuration through the proxy. layers.test.ts covers the
// cascade.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import {
  type ProxyCall,
  requestThroughProxy,
  etagOf,
  expectNotFound,
  expectRevalidates,
  expectSecretOnly,
  ifNoneMatch,
} from '../../../test/kit/cached-responses.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedProject, seedTenant } from '@manager/harness/seed.ts'

/** A second process of the same installation. */
let twin: TestApp

const { service, admin, project } = useProject()
beforeAll(async () => {
  twin = await startTestApp({ database: service.database })
})
afterAll(async () => {
  await twin.close()
})

type Layer = 'project' | 'application' | 'tenant' | 'tenant2application'
type Input = Record<string, unknown>

const mutate = async (text: string, variables: Input) => {
  const { data, error } = await service.query(admin, text, variables)
  expect(error).toBeNull()
  return data
}
/**
 * Returns the settings id of a layer. Creates the application's settings in the tenant if they do not exist.
 */
const settingsOf = async (of: SeededProject, layer: Layer): Promise<string> => {
  const { id, applicationId, tenantId, tenant2ApplicationId } = of
  const ids = {
    project: id,
    application: applicationId,
    tenant: tenantId,
    tenant2application: tenant2ApplicationId,
  }
  const text =
    layer === 'tenant2application'
      ? 'mutation($id: ID!) { settings: ensureTenant2ApplicationSettings(tenant2ApplicationId: $id) { id } }'
      : `query($id: ID!) { settings(${layer}: $id) { id } }`
  return (await mutate(text, { id: ids[layer] })).settings.id as string
}
const set = async (
  of: SeededProject,
  layer: Layer,
  given: { backend?: Input; frontend?: Input },
): Promise<void> => {
  const id = await settingsOf(of, layer)
  for (const [part, input] of Object.entries({ Backend: given.backend, Frontend: given.frontend }))
    if (input !== undefined)
      await mutate(
        `mutation($id: ID!, $input: Update${part}ModuleConfigInput!) {
          update${part}ModuleConfig(id: $id, input: $input) { id } }`,
        { id, input },
      )
}
const enable = (of: SeededProject, enabled: boolean) =>
  mutate(
    'mutation($id: ID!, $on: Boolean!) { updateTenant2Application(id: $id, input: {enabled: $on}) { id } }',
    { id: of.tenant2ApplicationId, on: enabled },
  )
const pairs = (given: Record<string, string>) => Object.entries(given).map(([Key, Value]) => ({ Key, Value }))

const pathOf = (place: string): string => `/api/frontend-config/${place}`
const ask = (place: string, call: ProxyCall = {}) =>
  requestThroughProxy(call.app ?? service, pathOf(place), call)
const inTenant = (of: SeededProject): string => `${of.applicationId}/${of.tenantId}`
/** Returns the body of a response that must be 200. */
const read = async (path: string, call: ProxyCall = {}) => {
  const answer = await ask(path, call)
  expect(answer.status).toBe(200)
  return JSON.parse(answer.body) as { config: Record<string, unknown>; project_id: string }
}
const nothingSet = {
  enabled_modules: [],
  enabled_themes: [],
  default_theme: '',
  enabled_locales: [],
  default_locale: '',
  key_value_pairs: [],
}

const notEnabled = 'the application is not enabled for this tenant'

describe('the configuration of an application in a tenant', () => {
  test('[frontend-config.tenant] [frontend-config.config] has every field when no layer sets anything', async () => {
    const answer = await ask(inTenant(project))
    expect(JSON.parse(answer.body)).toEqual({ config: nothingSet, project_id: project.id })
    const upper = await ask(inTenant(project).toUpperCase())
    expect([upper.status, upper.body]).toEqual([200, answer.body])
  })

  test('[frontend-config.config] [frontend-config.sources] merges the layers: modules of the backend part, pairs of the frontend part', async () => {
    const full = await seedProject(service.sql, 'full')
    await set(full, 'project', {
      backend: {
        EnabledModules: ['@acme/project'],
        KeyValuePairs: pairs({ db: 'backend-secret-1', shared: 'backend' }),
      },
      frontend: {
        EnabledThemes: ['light'],
        DefaultTheme: 'light',
        EnabledLocales: ['de', 'en'],
        DefaultLocale: 'de',
        KeyValuePairs: pairs({ shared: 'project', api: 'project', 'comms.enabled': 'true' }),
      },
    })
    await set(full, 'application', {
      backend: { EnabledModules: ['@acme/menu', 'search'] },
      frontend: {
        EnabledThemes: ['dark', 'light'],
        KeyValuePairs: pairs({ api: 'application', app: 'application' }),
      },
    })
    await set(full, 'tenant', {
      backend: { KeyValuePairs: pairs({ password: 'backend-secret-2' }) },
      frontend: { DefaultLocale: 'en', KeyValuePairs: pairs({ tenant: 'tenant', app: 'tenant' }) },
    })
    await set(full, 'tenant2application', {
      backend: { KeyValuePairs: pairs({ app: 'backend-secret-3' }) },
      frontend: { DefaultTheme: 'dark', KeyValuePairs: pairs({ shared: 'leaf' }) },
    })
    const { body } = await ask(inTenant(full))
    expect(JSON.parse(body)).toEqual({
      config: {
        enabled_modules: ['@acme/menu', 'search'],
        enabled_themes: ['dark', 'light'],
        default_theme: 'dark',
        enabled_locales: ['de', 'en'],
        default_locale: 'en',
        key_value_pairs: [
          { key: 'shared', value: 'leaf' },
          { key: 'api', value: 'application' },
          { key: 'comms.enabled', value: 'true' },
          { key: 'app', value: 'tenant' },
          { key: 'tenant', value: 'tenant' },
        ],
      },
      project_id: full.id,
    })
    for (const hidden of ['backend', 'password', '"db"']) expect(body).not.toContain(hidden)
    // If a layer no longer sets a value, the next more general layer provides the value.
    const id = await settingsOf(full, 'tenant2application')
    await mutate('mutation($id: ID!) { deleteFrontendSettings(id: $id) deleteBackendSettings(id: $id) }', {
      id,
    })
    expect((await read(inTenant(full))).config).toMatchObject({
      default_theme: 'light',
      default_locale: 'en',
    })
  })

  test('[frontend-config.tenant] every change of any layer is seen by the next request, at every process', async () => {
    const changing = await seedProject(service.sql, 'changing')
    const apps = [service, twin]
    for (const [round, layer] of (
      ['project', 'application', 'tenant', 'tenant2application'] as const
    ).entries())
      for (const value of [`first-${round}`, `second-${round}`]) {
        for (const app of apps) await read(inTenant(changing), { app })
        await set(changing, layer, {
          frontend: { DefaultTheme: value },
          backend: { EnabledModules: [value] },
        })
        for (const app of apps.toReversed())
          expect((await read(inTenant(changing), { app })).config).toEqual({
            ...nothingSet,
            default_theme: value,
            enabled_modules: [value],
          })
      }
    // Another tenant of the project has its own two layers and inherits nothing from the layers of this tenant.
    const [second, row] = [randomUUID(), randomUUID()]
    await seedTenant(service.sql, changing.id, second, 'changing-second')
    await service.sql.query(
      `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)`,
      [row, changing.id, second, changing.applicationId],
    )
    const theirs = await read(`${changing.applicationId}/${second}`)
    expect(theirs.config).toMatchObject({ default_theme: 'second-1', enabled_modules: ['second-1'] })
  })

  test('[frontend-config.not-enabled] is not found unless the row is there and enabled', async () => {
    const [house, other] = [await seedProject(service.sql, 'house'), await seedProject(service.sql, 'other')]
    const { applicationId, tenantId } = house
    const withoutRow = randomUUID()
    await seedTenant(service.sql, house.id, withoutRow, 'house-without-row')
    const odd = [
      randomUUID(),
      'nothing',
      '%00',
      '*',
      tenantId.slice(1),
      tenantId.replaceAll('-', ''),
      `%7B${tenantId}%7D`,
    ]
    for (const tenant of [withoutRow, other.tenantId, house.id, applicationId, ...odd])
      expectNotFound(await ask(`${applicationId}/${tenant}`), notEnabled)
    for (const application of [other.applicationId, house.id, tenantId, ...odd])
      expectNotFound(await ask(`${application}/${tenantId}`), notEnabled)
    for (const path of ['x/y', `${tenantId}/${applicationId}`]) expectNotFound(await ask(path), notEnabled)
    await enable(house, false)
    expectNotFound(await ask(`${applicationId}/${tenantId}`), notEnabled)
    expectNotFound(await ask(`${applicationId}/${tenantId}`, ifNoneMatch('*')), notEnabled)
    const head = await ask(`${applicationId}/${tenantId}`, { method: 'HEAD' })
    expect([head.status, head.body, head.headers['cache-control']]).toEqual([404, '', 'no-store'])
  })

  test('[frontend-config.not-enabled] the row switched off and on, removed and made again, is seen by the next request', async () => {
    const { applicationId, tenantId, ...switched } = await seedProject(service.sql, 'switched')
    const path = `${applicationId}/${tenantId}`
    const everywhere = () =>
      Promise.all([service, twin].map(async (app) => (await ask(path, { app })).status))
    for (let round = 0; round < 3; round++) {
      expect(await everywhere()).toEqual([200, 200])
      await enable({ ...switched, applicationId, tenantId }, false)
      expect(await everywhere()).toEqual([404, 404])
      await enable({ ...switched, applicationId, tenantId }, true)
    }
    await mutate('mutation($id: ID!) { deleteTenant2Application(id: $id) }', {
      id: switched.tenant2ApplicationId,
    })
    expect(await everywhere()).toEqual([404, 404])
    await mutate(
      'mutation($input: CreateTenant2ApplicationInput!) { createTenant2Application(input: $input) { id } }',
      { input: { applicationId, tenantId } },
    )
    expect(await everywhere()).toEqual([200, 200])
    await mutate('mutation($id: ID!) { deleteApplication(id: $id) }', { id: applicationId })
    expect(await everywhere()).toEqual([404, 404])
  })
})

describe('the configuration without a tenant', () => {
  test('[frontend-config.tenantless] comes from the layers of project and application alone, enabled for a tenant or not', async () => {
    const plain = await seedProject(service.sql, 'plain')
    expect(await read(plain.applicationId)).toEqual({ config: nothingSet, project_id: plain.id })
    for (const layer of ['project', 'application', 'tenant', 'tenant2application'] as const)
      await set(plain, layer, {
        backend: { EnabledModules: [layer], KeyValuePairs: pairs({ hidden: 'backend' }) },
        frontend: { DefaultTheme: layer, KeyValuePairs: pairs({ [layer]: layer, all: layer }) },
      })
    await set(plain, 'project', { frontend: { DefaultLocale: 'de', EnabledLocales: ['de'] } })
    const wanted = {
      config: {
        ...nothingSet,
        enabled_modules: ['application'],
        default_theme: 'application',
        enabled_locales: ['de'],
        default_locale: 'de',
        key_value_pairs: [
          { key: 'project', value: 'project' },
          { key: 'all', value: 'application' },
          { key: 'application', value: 'application' },
        ],
      },
      project_id: plain.id,
    }
    expect(await read(plain.applicationId)).toEqual(wanted)
    await enable(plain, false)
    expect(await read(plain.applicationId)).toEqual(wanted)
    await set(plain, 'application', { frontend: { DefaultTheme: 'changed' } })
    for (const app of [twin, service])
      expect((await read(plain.applicationId, { app })).config['default_theme']).toBe('changed')
  })

  test('[frontend-config.tenantless] says since when it is deprecated and when it ends', async () => {
    const { applicationId } = project
    const etag = etagOf(await ask(applicationId))
    for (const answer of [
      await ask(applicationId),
      await ask(applicationId, { method: 'HEAD' }),
      await ask(applicationId, ifNoneMatch(etag)),
    ]) {
      const { deprecation, sunset } = answer.headers as Record<string, string>
      expect(deprecation).toMatch(/^@\d{10}$/)
      expect(sunset).toBe(new Date(sunset as string).toUTCString())
      expect(Date.parse(sunset as string) / 1_000).toBeGreaterThan(Number(deprecation?.slice(1)))
    }
    const { headers } = await ask(inTenant(project))
    for (const name of ['deprecation', 'sunset']) expect([name, headers[name]]).toEqual([name, undefined])
  })

  test('[frontend-config.tenantless] of an unknown application is not found', async () => {
    const { id, tenantId, applicationId } = project
    for (const unknown of [randomUUID(), id, tenantId, 'nothing', '%00', `${applicationId}0`, '*'])
      expectNotFound(await ask(unknown), 'application not found')
  })
})

describe('both addresses', () => {
  const places = (of: SeededProject): string[] => [inTenant(of), of.applicationId]

  test('[frontend-config.tenant] [frontend-config.tenantless] open with the secret alone, and with nothing else', async () => {
    for (const place of places(project)) await expectSecretOnly(service, pathOf(place), admin.id)
  })

  test('have a validator, HEAD tells it too, and naming it is answered 304', async () => {
    const kept = await seedProject(service.sql, 'kept')
    await set(kept, 'project', { frontend: { DefaultTheme: 'grün 🙂' } })
    for (const place of places(kept)) await expectRevalidates(service, pathOf(place))
  })

  test('change their validator with what they answer, and with nothing else', async () => {
    const tagged = await seedProject(service.sql, 'tagged')
    const tags = async () => (await Promise.all(places(tagged).map((path) => ask(path)))).map(etagOf)
    const atFirst = await tags()
    await set(tagged, 'tenant', { frontend: { DefaultTheme: 'x' } })
    const [inTenantNow, withoutTenantNow] = await tags()
    expect([inTenantNow === atFirst[0], withoutTenantNow === atFirst[1]]).toEqual([false, true])
    await set(tagged, 'project', { backend: { KeyValuePairs: pairs({ only: 'backends know' }) } })
    expect(await tags()).toEqual([inTenantNow, withoutTenantNow])
    await set(tagged, 'tenant', { frontend: { DefaultTheme: '' } })
    expect(await tags()).toEqual(atFirst)
    await set(tagged, 'application', { frontend: { KeyValuePairs: pairs({ a: 'b' }) } })
    for (const [index, tag] of (await tags()).entries()) expect(tag).not.toBe(atFirst[index])
  })

  test('[frontend-config.config] show nothing else that a settings row may hold', async () => {
    const rows = await seedProject(service.sql, 'rows')
    await set(rows, 'tenant2application', { frontend: { DefaultTheme: 'leaf' } })
    await service.sql.query(
      `update settings set
         backend_module_config = backend_module_config || '{"Secret": "foreign-1", "config": {"x": "foreign-2"}}',
         frontend_module_config = frontend_module_config || '{"DefaultThemes": "foreign-3", "key_value_pairs": [{"key": "foreign-4", "value": "v"}],
           "KeyValuePairs": [{"Key": "k", "Value": "v", "Comment": "foreign-5"}]}'
       where project_id = $1`,
      [rows.id],
    )
    const config = { ...nothingSet, key_value_pairs: [{ key: 'k', value: 'v' }] }
    for (const [path, theme] of [
      [inTenant(rows), 'leaf'],
      [rows.applicationId, ''],
    ] as const) {
      const { body } = await ask(path)
      expect(JSON.parse(body)).toEqual({ config: { ...config, default_theme: theme }, project_id: rows.id })
      expect(body).not.toContain('foreign')
    }
  })

  test('[frontend-config.sources] answer 10,000 pairs with a megabyte of texts, hostile names among them, completely', async () => {
    const large = await seedProject(service.sql, 'large')
    const names = ['__proto__', 'constructor', 'prototype', 'toJSON', '0', 'ä 日 🙂', 'a.b', '</script>']
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      Key: names[index] ?? `area${index % 40}.key${index}`,
      Value: `${index} `.padEnd(90, 'ü'),
    }))
    await set(large, 'project', { frontend: { KeyValuePairs: many } })
    await set(large, 'application', {
      frontend: { KeyValuePairs: [{ Key: '__proto__', Value: 'overridden' }] },
    })
    const wanted = many.map(({ Key, Value }) => ({
      key: Key,
      value: Key === '__proto__' ? 'overridden' : Value,
    }))
    for (const path of places(large)) {
      const answer = await ask(path)
      expect(Buffer.byteLength(answer.body)).toBeGreaterThan(1_000_000)
      expect(JSON.parse(answer.body)).toEqual({
        config: { ...nothingSet, key_value_pairs: wanted },
        project_id: large.id,
      })
      await expectRevalidates(service, pathOf(path))
    }
  })
})
