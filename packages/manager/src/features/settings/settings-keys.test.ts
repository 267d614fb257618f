// Tests changes to individual keys and pins in several settings: other keys stay unchanged, and one rejected change
// rejects all changes.
import { beforeEach, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()

type Owner = 'project' | 'tenant' | 'application'
type Change = Record<string, unknown>
const settings =
  '{ id revision backendSetting { moduleConfig { KeyValuePairs { Key Value } } } frontendSetting { moduleConfig { DefaultTheme KeyValuePairs { Key Value } } } }'
let ids: Record<Owner, string>

async function findId(owner: Owner, id: string): Promise<string> {
  const { data } = await service.query(admin, `{ settings(${owner}: "${id}") { id } }`)
  return data.settings.id as string
}
beforeEach(async () => {
  ids = {
    project: await findId('project', project.id),
    tenant: await findId('tenant', project.tenantId),
    application: await findId('application', project.applicationId),
  }
  await service.sql.query(
    `update settings set backend_module_config = '{}', updated_at = now(),
       frontend_module_config = '{"DefaultTheme": "dark", "KeyValuePairs": [{"Key": "kept", "Value": "1"}, {"Key": "old", "Value": "2"}]}'
     where project_id = $1`,
    [project.id],
  )
})

const setKeys = (changes: Change[], projectId = project.id) =>
  service.query(
    admin,
    `mutation($p: ID!, $changes: [UpdateSettingsKeysInput!]!) { result: setSettingsKeys(projectId: $p, changes: $changes) ${settings} }`,
    { p: projectId, changes },
  )
const setPins = (changes: Change[]) =>
  service.query(
    admin,
    `mutation($p: ID!, $changes: [UpdatePiletPinsInput!]!) { result: setPiletPins(projectId: $p, changes: $changes) ${settings} }`,
    { p: project.id, changes },
  )
const frontend = (settingsId: string, keys: Change): Change => ({ settingsId, part: 'frontend', ...keys })
const readPairs = async (id: string): Promise<Record<string, string>> => {
  const { rows } = await service.sql.query<{ pairs: { Key: string; Value: string }[] | null }>(
    "select frontend_module_config -> 'KeyValuePairs' as pairs from settings where id = $1",
    [id],
  )
  return Object.fromEntries((rows[0]?.pairs ?? []).map(({ Key, Value }) => [Key, Value]))
}

describe('setSettingsKeys', () => {
  test('sets and removes keys, and leaves the other keys and fields as they are', async () => {
    const { data, error } = await setKeys([
      frontend(ids.project, { set: [{ Key: 'new', Value: '3' }], unset: ['old', 'never set'] }),
      { settingsId: ids.project, part: 'backend', set: [{ Key: 'b', Value: 'x' }] },
      frontend(ids.tenant, { set: [{ Key: 'kept', Value: 'changed' }] }),
    ])
    expect(error).toBeNull()
    expect(data.result).toHaveLength(2)
    expect(data.result[0]).toMatchObject({
      id: ids.project,
      backendSetting: { moduleConfig: { KeyValuePairs: [{ Key: 'b', Value: 'x' }] } },
      frontendSetting: { moduleConfig: { DefaultTheme: 'dark' } },
    })
    expect(await readPairs(ids.project)).toEqual({ kept: '1', new: '3' })
    expect(await readPairs(ids.tenant)).toEqual({ kept: 'changed', old: '2' })
  })

  test('applies none of the changes if one is rejected', async () => {
    const good = frontend(ids.project, { set: [{ Key: 'good', Value: '1' }] })
    const { id: otherId } = await seedProject(service.sql, `other-${Date.now()}`)
    const other = await findId('project', otherId)
    const rejected: [Change, string][] = [
      [frontend(ids.tenant, { set: [{ Key: ' ', Value: '1' }] }), 'every Key'],
      [frontend(ids.tenant, { set: [{ Key: 'comms.enabled', Value: 'maybe' }] }), 'comms.enabled must be'],
      [frontend(ids.tenant, { set: [{ Key: 'a', Value: '' }], unset: ['a'] }), 'only once'],
      [frontend(ids.tenant, { unset: ['old'], expectedRevision: 1_000 }), 'the object has changed'],
      [
        { settingsId: ids.tenant, part: 'backend', set: [{ Key: 'pilets.pins', Value: '{}' }] },
        'no effect in the backend',
      ],
      [frontend(other, { set: [{ Key: 'a', Value: '' }] }), 'settings not found'],
      [frontend('00000000-0000-7000-8000-00000000dead', { unset: ['a'] }), 'settings not found'],
    ]
    for (const [change, text] of rejected) {
      const { error } = await setKeys([good, change])
      expect(error).toContain(text)
      expect(await readPairs(ids.project)).not.toHaveProperty('good')
    }
  })

  test('rejects an empty list, a list without keys, and more than 1,000 keys', async () => {
    expect((await setKeys([])).error).toBe('settings not found')
    expect((await setKeys([frontend(ids.project, {})])).error).toContain('at least one key')
    const unset = Array.from({ length: 1_001 }, (_, n) => `k${n}`)
    expect((await setKeys([frontend(ids.project, { unset })])).error).toContain('at most 1000 keys')
    expect((await setKeys([frontend(ids.project, { unset: unset.slice(1) })])).error).toBeNull()
  })

  test('writes one audit row per changed settings row, with the changed keys only', async () => {
    await setKeys([frontend(ids.tenant, { set: [{ Key: 'audited', Value: 'yes' }] })])
    const { rows } = await service.sql.query<{ changes: Record<string, unknown> }>(
      'select changes from audit_logs where chain_id = $1 and entity_id = $2 order by seq desc limit 1',
      [project.id, ids.tenant],
    )
    expect(Object.keys(rows[0]?.changes ?? {})).toEqual(['frontend.KeyValuePairs.audited'])
  })
})

describe('setPiletPins', () => {
  const pinsOf = async (id: string): Promise<unknown> => {
    const { 'pilets.pins': pins } = await readPairs(id)
    return pins === undefined ? undefined : JSON.parse(pins)
  }

  test('adds, replaces and removes pins, and removes the key with the last pin', async () => {
    const pin = (name: string, version: string) => ({ name, version })
    expect(
      (await setPins([{ settingsId: ids.tenant, set: [pin('menu', '1.0.0'), pin('cart', '2.0.0')] }])).error,
    ).toBeNull()
    expect(await pinsOf(ids.tenant)).toEqual({ menu: '1.0.0', cart: '2.0.0' })
    await setPins([{ settingsId: ids.tenant, set: [pin('menu', '1.1.0')], unset: ['cart'] }])
    expect(await pinsOf(ids.tenant)).toEqual({ menu: '1.1.0' })
    await setPins([{ settingsId: ids.tenant, unset: ['menu'] }])
    expect(await readPairs(ids.tenant)).toEqual({ kept: '1', old: '2' })
  })

  test('rejects a name or a version that cannot be pinned', async () => {
    const pin = (name: string, version: string) =>
      setPins([{ settingsId: ids.tenant, set: [{ name, version }] }])
    expect((await pin('Not A Name', '1.0.0')).error).toContain('is not a package name')
    expect((await pin('menu', '^1.0.0')).error).toContain('exact version')
    expect((await pin('__proto__', '1.0.0')).error).toContain('is not a package name')
  })
})
