// Tests which settings layers enable or pin a pilet.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })
const menu = '@acme/menu'

type Owner = { tenantId?: string; applicationId?: string }
/** Stores modules and pins in the settings of one layer. `pins` can be text that is not JSON. */
const save = (
  { tenantId = null, applicationId = null }: { tenantId?: string | null; applicationId?: string | null },
  { modules = [], pins }: { modules?: string[]; pins?: object | string },
  projectId = project.id,
) =>
  service.sql.query(
    `insert into settings (project_id, tenant_id, application_id, backend_module_config, frontend_module_config)
     values ($1, $2, $3, $4, $5) on conflict on constraint settings_layer_key do update
     set backend_module_config = excluded.backend_module_config, frontend_module_config = excluded.frontend_module_config`,
    [
      projectId,
      tenantId,
      applicationId,
      { EnabledModules: modules, KeyValuePairs: [] },
      pins === undefined
        ? {}
        : {
            KeyValuePairs: [
              { Key: 'theme', Value: menu },
              { Key: 'pilets.pins', Value: typeof pins === 'string' ? pins : JSON.stringify(pins) },
            ],
          },
    ],
  )
const find = (caller: Person, name = menu, projectId = project.id) =>
  service.query(
    caller,
    `query($projectId: ID!, $name: String!) { usage: piletUsage(projectId: $projectId, name: $name) {
      isComplete entries { layer isEnabled pinnedVersion application { id } tenant { id } } } }`,
    { projectId, name },
  )

describe('the use of a pilet', () => {
  let layers: Record<string, Owner>
  beforeAll(() => {
    const { tenantId, applicationId } = project
    layers = {
      project: {},
      application: { applicationId },
      tenant: { tenantId },
      tenant2application: { tenantId, applicationId },
    }
  })
  const entry = (layer: string, isEnabled: boolean, pinnedVersion: string | null) => {
    const { tenantId, applicationId } = layers[layer] as Owner
    return {
      layer,
      isEnabled,
      pinnedVersion,
      application: applicationId === undefined ? null : { id: applicationId },
      tenant: tenantId === undefined ? null : { id: tenantId },
    }
  }

  test('is found in every layer, the most general first', async () => {
    await save({}, { modules: ['x', menu], pins: { [menu]: '1.0.0' } })
    await save(layers['application'] as Owner, { modules: [menu] })
    await save(layers['tenant'] as Owner, { pins: { x: '9.9.9', [menu]: '2.0.0' } })
    await save(layers['tenant2application'] as Owner, { modules: [menu], pins: { [menu]: '3.0.0' } })
    await save({}, { modules: [menu], pins: { [menu]: '7.0.0' } }, other.id)
    const { tenantId } = other
    await save({ tenantId }, { modules: [menu], pins: { [menu]: '7.0.0' } }, other.id)
    expect((await find(admin)).data.usage).toEqual({
      isComplete: true,
      entries: [
        entry('project', true, '1.0.0'),
        entry('application', true, null),
        entry('tenant', false, '2.0.0'),
        entry('tenant2application', true, '3.0.0'),
      ],
    })
    expect((await find(admin, 'x')).data.usage.entries).toEqual([
      entry('project', true, null),
      entry('tenant', false, '9.9.9'),
    ])
    expect((await find(admin, '@acme/men')).data.usage).toEqual({ isComplete: true, entries: [] })
  })

  test('is not found in pins that feeds ignore, or in a module list of another form', async () => {
    for (const pins of ['not JSON', '["@acme/menu"]', '"@acme/menu"', 'null', '']) {
      for (const owner of Object.values(layers)) await save(owner, { pins })
      expect((await find(admin)).data.usage.entries).toEqual([])
    }
    await service.sql.query(
      `update settings set backend_module_config = jsonb_build_object('EnabledModules', $2::text),
         frontend_module_config = '{"KeyValuePairs": "x"}' where project_id = $1`,
      [project.id, menu],
    )
    expect((await find(admin)).data.usage.entries).toEqual([])
  })

  test('can be stored with pin names and values of any length', async () => {
    const pins = { [menu]: '1.0.0', ['n'.repeat(60_000)]: '1.0.0', '': 'x', 'quote\' " {}': 'y' }
    await save(layers['tenant'] as Owner, { pins })
    expect((await find(admin)).data.usage.entries).toEqual([entry('tenant', false, '1.0.0')])
  })

  test('is limited to 1,000 layers and says so', async () => {
    await service.sql.query(
      `insert into tenants (id, project_id, name, slug) select gen_random_uuid(), $1, 'many', 'many-' || n
       from generate_series(1, 1000) n`,
      [project.id],
    )
    await service.sql.query(
      `update settings set backend_module_config = jsonb_build_object('EnabledModules', jsonb_build_array('many'))
       where project_id = $1 and tenant_id in (select id from tenants where name = 'many')`,
      [project.id],
    )
    const exact = (await find(admin, 'many')).data.usage
    expect([exact.isComplete, exact.entries.length]).toEqual([true, 1_000])
    await save({}, { modules: ['many'] })
    const { isComplete, entries } = (await find(admin, 'many')).data.usage
    expect([isComplete, entries.length, entries[0].layer]).toEqual([false, 1_000, 'project'])
  })

  test('is visible to project members only, and needs the name of a pilet', async () => {
    const [stranger, foreigner, guest] = [
      await person('stranger'),
      await person('foreigner'),
      await person('guest'),
    ]
    await seedMember(service.sql, foreigner, 'owner', { projectId: other.id })
    await seedMember(service.sql, guest, 'owner', { projectId: project.id, tenantId: project.tenantId })
    expect((await find(await member('reader', 'readonly'))).error).toBeNull()
    for (const caller of [stranger, foreigner]) expect((await find(caller)).error).toBe('project not found')
    expect((await find(guest)).error).toContain('not permitted')
    for (const name of ['', ' ', 'a b', 'x'.repeat(215), 'a\0', "x'--"])
      expect((await find(admin, name)).error).toBe('name must be the name of a pilet, such as @acme/menu')
  })
})
