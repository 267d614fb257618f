// These tests cover settings updates through GraphQL: values that are stored, kept or rejected, and their audit rows.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectRefused } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

type Part = 'Backend' | 'Frontend'
type Pair = { Key: string; Value: string }
type Audited = {
  action: string
  changes: Record<string, { before: unknown; after: unknown }>
  metadata: unknown
  user_id: string
  text: string
}

const parts: readonly Part[] = ['Backend', 'Frontend']
/** The settings id of the project layer. */
let id: string

const { service, admin, project } = useProject()
beforeAll(async () => {
  id = await idOf({ project: project.id })
})

const fieldsOf = {
  Backend: 'EnabledModules KeyValuePairs { Key Value }',
  Frontend: 'EnabledThemes DefaultTheme EnabledLocales DefaultLocale KeyValuePairs { Key Value }',
}
const both = parts
  .map((part) => `${part.toLowerCase()}Setting { moduleConfig { ${fieldsOf[part]} } }`)
  .join(' ')
const emptyConfigs = {
  Backend: { EnabledModules: [], KeyValuePairs: [] },
  Frontend: { EnabledThemes: [], DefaultTheme: '', EnabledLocales: [], DefaultLocale: '', KeyValuePairs: [] },
}
const fullConfigs = {
  Backend: {
    EnabledModules: ['menu', '@acme/cart'],
    KeyValuePairs: [{ Key: 'url', Value: 'https://example.com' }],
  },
  Frontend: {
    EnabledThemes: ['light', 'dark'],
    DefaultTheme: 'dark',
    EnabledLocales: ['de-AT', 'en'],
    DefaultLocale: 'en',
    KeyValuePairs: [
      { Key: 'z', Value: '' },
      { Key: 'a', Value: 'ü 🙂 "\\' },
    ],
  },
}
const shownAs = (configs: { Backend: object; Frontend: object }) => ({
  backendSetting: { moduleConfig: configs.Backend },
  frontendSetting: { moduleConfig: configs.Frontend },
})

const idOf = async (owner: { project?: string; tenant?: string }): Promise<string> => {
  const { data, error } = await service.query(
    admin,
    'query($project: ID, $tenant: ID) { row: settings(project: $project, tenant: $tenant) { id } }',
    owner,
  )
  expect(error).toBeNull()
  return data.row.id as string
}
const update = (part: Part, settingsId: string, input: object) =>
  service.query(
    admin,
    `mutation($id: ID!, $input: Update${part}ModuleConfigInput!) {
      saved: update${part}ModuleConfig(id: $id, input: $input) { id moduleConfig { ${fieldsOf[part]} } }
    }`,
    { id: settingsId, input },
  )
const empty = (part: Part, settingsId: string) =>
  service.query(admin, `mutation($id: ID!) { done: delete${part}Settings(id: $id) }`, { id: settingsId })
const stored = async (owner: { project: string }) => {
  const { data } = await service.query(
    admin,
    `query($project: ID) { row: settings(project: $project) { id ${both} } }`,
    owner,
  )
  return data.row as unknown
}
const auditOf = async (settingsId: string): Promise<Audited[]> => {
  const { rows } = await service.sql.query<Audited>(
    `select action, changes, metadata, user_id, audit_logs::text as text from audit_logs
     where entity_type = 'settings' and entity_id = $1 order by seq`,
    [settingsId],
  )
  return rows
}
const pairsOf = (count: number, Value = ''): Pair[] =>
  Array.from({ length: count }, (_, index) => ({ Key: `key${index}`, Value }))

describe('updating a part', () => {
  test('[settings.update-backend] [settings.update-frontend] stores its fields, in their order, and leaves the other part alone', async () => {
    const own = await seedProject(service.sql, 'stored')
    const settingsId = await idOf({ project: own.id })
    const backend = await update('Backend', settingsId, fullConfigs.Backend)
    expect(backend.data.saved).toEqual({ id: settingsId, moduleConfig: fullConfigs.Backend })
    expect(await stored({ project: own.id })).toEqual({
      id: settingsId,
      ...shownAs({ ...emptyConfigs, Backend: fullConfigs.Backend }),
    })
    const frontend = await update('Frontend', settingsId, fullConfigs.Frontend)
    expect(frontend.data.saved).toEqual({ id: settingsId, moduleConfig: fullConfigs.Frontend })
    expect(await stored({ project: own.id })).toEqual({ id: settingsId, ...shownAs(fullConfigs) })
  })

  test('[settings.update-backend] [settings.update-frontend] keeps what is absent or null, and empties what is empty', async () => {
    for (const part of parts) {
      const own = await seedProject(service.sql, `kept-${part.toLowerCase()}`)
      const settingsId = await idOf({ project: own.id })
      const expected: Record<string, unknown> = { ...fullConfigs[part] }
      await update(part, settingsId, expected)
      const nulls = Object.fromEntries(Object.keys(expected).map((field) => [field, null]))
      for (const input of [{}, nulls])
        expect((await update(part, settingsId, input)).data.saved.moduleConfig).toEqual(expected)
      for (const [field, value] of Object.entries(emptyConfigs[part])) {
        expected[field] = value
        const emptied = await update(part, settingsId, { ...nulls, [field]: value })
        expect(emptied.data.saved.moduleConfig).toEqual(expected)
      }
      expect(expected).toEqual(emptyConfigs[part])
    }
  })

  test('[settings.update-backend] [settings.update-frontend] changes of both parts that race are all kept', async () => {
    const own = await seedProject(service.sql, 'raced')
    const settingsId = await idOf({ project: own.id })
    const { Backend, Frontend } = fullConfigs
    const inputs: [Part, object][] = [
      ['Backend', { EnabledModules: Backend.EnabledModules }],
      ['Backend', { KeyValuePairs: Backend.KeyValuePairs }],
      ...Object.entries(Frontend).map(([field, value]): [Part, object] => ['Frontend', { [field]: value }]),
    ]
    const answers = await Promise.all(inputs.map(([part, input]) => update(part, settingsId, input)))
    expect(answers.map(({ error }) => error)).toEqual(inputs.map(() => null))
    expect(await stored({ project: own.id })).toEqual({ id: settingsId, ...shownAs(fullConfigs) })
    expect(await auditOf(settingsId)).toHaveLength(inputs.length)
  })

  test('[settings.update-backend] [settings.update-frontend] an id that is unknown, or names another thing, is an error', async () => {
    for (const unknown of [randomUUID(), 'nothing', project.id, project.tenantId])
      for (const part of parts) {
        expect((await update(part, unknown, {})).error).toBe('settings not found')
        expect((await empty(part, unknown)).error).toBe('settings not found')
      }
  })
})

test('[settings.delete] a part that is deleted is empty and inherits again; the container and the other part stay', async () => {
  const own = await seedProject(service.sql, 'deleted')
  const [ofProject, ofTenant] = [await idOf({ project: own.id }), await idOf({ tenant: own.tenantId })]
  await update('Frontend', ofProject, { DefaultTheme: 'of the project' })
  await update('Backend', ofProject, { EnabledModules: ['of-the-project'] })
  for (const part of parts) await update(part, ofTenant, fullConfigs[part])
  const effective = async () => {
    const { data } = await service.query(
      admin,
      `{ merged: effectiveSettings(applicationId: "${own.applicationId}", tenantId: "${own.tenantId}") {
        backend { EnabledModules { value layer } } frontend { DefaultTheme { value layer } } } }`,
    )
    return [data.merged.backend.EnabledModules, data.merged.frontend.DefaultTheme] as unknown[]
  }
  const [modules, theme] = [
    { value: ['menu', '@acme/cart'], layer: 'tenant' },
    { value: 'dark', layer: 'tenant' },
  ]
  expect(await effective()).toEqual([modules, theme])
  expect((await empty('Frontend', ofTenant)).data).toEqual({ done: true })
  expect(await effective()).toEqual([modules, { value: 'of the project', layer: 'project' }])
  await update('Frontend', ofTenant, fullConfigs.Frontend)
  expect((await empty('Backend', ofTenant)).data).toEqual({ done: true })
  expect((await empty('Backend', ofTenant)).data).toEqual({ done: true })
  expect(await effective()).toEqual([{ value: ['of-the-project'], layer: 'project' }, theme])
  await empty('Frontend', ofTenant)
  expect(await idOf({ tenant: own.tenantId })).toBe(ofTenant)
  const { data } = await service.query(admin, `{ row: settings(tenant: "${own.tenantId}") { ${both} } }`)
  expect(data.row).toEqual(shownAs(emptyConfigs))
  expect((await update('Backend', ofTenant, fullConfigs.Backend)).data.saved.id).toBe(ofTenant)
})

describe('what may be stored', () => {
  /** Expects this error for every input, and an unchanged row. */
  const expectRefusals = async (part: Part, said: string, inputs: readonly object[]) => {
    const before = await stored({ project: project.id })
    for (const input of inputs) {
      const answer = await update(part, id, input)
      expectRefused(answer, 'bad_request')
      expect(answer.error).toBe(said)
    }
    expect(await stored({ project: project.id })).toEqual(before)
  }
  const expectStored = async (part: Part, input: Record<string, unknown>) => {
    const { data, error } = await update(part, id, input)
    expect(error).toBeNull()
    expect(data.saved.moduleConfig).toMatchObject(input)
  }
  const onePair = (Key: string, Value = '') => ({ KeyValuePairs: [{ Key, Value }] })

  test('[settings.reserved-keys] the reserved keys are checked in both parts, and the error says what they take', async () => {
    for (const part of parts) {
      await expectStored(part, { KeyValuePairs: [{ Key: 'comms.enabled', Value: 'false' }] })
      await expectRefusals(part, 'comms.enabled must be "true" or "false"', [
        onePair('comms.enabled', 'yes'),
        onePair('comms.enabled'),
      ])
    }
    await expectStored('Frontend', onePair('pilets.pins', '{"@acme/menu": "1.2.3-rc.1+7"}'))
    await expectRefusals('Frontend', 'pilets.pins must map menu to an exact version such as "1.2.3"', [
      onePair('pilets.pins', '{"menu": "^1.0.0"}'),
    ])
    await expectRefusals('Frontend', 'pilets.pins contains "__proto__", which is not a package name', [
      onePair('pilets.pins', '{"__proto__": "1.0.0"}'),
    ])
    await expectRefusals(
      'Frontend',
      'pilets.pins must be a JSON object that maps pilet names to exact versions, such as {"@acme/menu": "1.2.3"}',
      [onePair('pilets.pins', '["menu"]'), onePair('pilets.pins', 'null'), onePair('pilets.pins')],
    )
  })

  test('[settings.update-backend] [settings.update-frontend] pairs have a limit on their number, their bytes and their keys', async () => {
    const limit = 2 * 1_048_576
    for (const part of parts) {
      await expectStored(part, { KeyValuePairs: pairsOf(10_000) })
      await expectRefusals(part, 'KeyValuePairs must have at most 10000 entries', [
        { KeyValuePairs: pairsOf(10_001) },
      ])
      await expectStored(part, onePair('ü', 'a'.repeat(limit - 2)))
      await expectRefusals(part, 'KeyValuePairs must contain at most 2097152 bytes of keys and values', [
        onePair('ü', 'a'.repeat(limit - 1)),
      ])
      await expectStored(part, onePair('k'.repeat(500)))
      await expectRefusals(
        part,
        'every Key of KeyValuePairs must have 1 to 500 characters',
        ['k'.repeat(501), '', ' '].map((key) => onePair(key)),
      )
      await expectRefusals(part, 'KeyValuePairs has the Key "key1" more than once', [
        { KeyValuePairs: [...pairsOf(3), { Key: 'key1', Value: 'other' }] },
      ])
      await expectStored(part, {
        KeyValuePairs: ['__proto__', 'constructor', 'a', 'A'].map((Key) => ({ Key, Value: Key })),
      })
    }
  })

  test('[settings.update-backend] [settings.update-frontend] lists have at most 1,000 different names of limited length', async () => {
    for (const [part, field, length] of [
      ['Backend', 'EnabledModules', 214],
      ['Frontend', 'EnabledThemes', 100],
      ['Frontend', 'EnabledLocales', 100],
    ] as const) {
      const names = (count: number) => Array.from({ length: count }, (_, index) => `name${index}`)
      await expectStored(part, { [field]: names(1_000) })
      await expectRefusals(part, `${field} must have at most 1000 entries`, [{ [field]: names(1_001) }])
      await expectRefusals(part, `${field} contains "name1" more than once`, [
        { [field]: [...names(3), 'name1'] },
      ])
      await expectStored(part, { [field]: ['🙂'.repeat(length), 'a', 'A'] })
      await expectRefusals(
        part,
        `every entry of ${field} must have 1 to ${length} characters`,
        ['x'.repeat(length + 1), '', ' '].map((name) => ({ [field]: ['a', name] })),
      )
    }
    for (const field of ['DefaultTheme', 'DefaultLocale']) {
      await expectStored('Frontend', { [field]: '🙂'.repeat(100) })
      await expectRefusals('Frontend', `${field} must have at most 100 characters`, [
        { [field]: 'x'.repeat(101) },
      ])
    }
  })

  test('[settings.update-backend] [settings.update-frontend] control characters and broken Unicode are refused in every field', async () => {
    for (const broken of ['a\0b', 'a\u001bb', 'a\u007fb', 'a\ud83db', '\ude42']) {
      const said = (field: string) => `${field} must not contain control characters or malformed Unicode`
      for (const part of parts)
        await expectRefusals(part, said('KeyValuePairs'), [onePair(broken), onePair('key', broken)])
      await expectRefusals('Backend', said('every entry of EnabledModules'), [{ EnabledModules: [broken] }])
      for (const field of ['EnabledThemes', 'EnabledLocales'])
        await expectRefusals('Frontend', said(`every entry of ${field}`), [{ [field]: [broken] }])
      for (const field of ['DefaultTheme', 'DefaultLocale'])
        await expectRefusals('Frontend', said(field), [{ [field]: broken }])
    }
    await expectStored('Backend', onePair('tab\tand\r\nline', 'tab\tand\r\nline 🙂'))
  })
})

describe('the audit trail', () => {
  test('[settings.update-backend] [settings.update-frontend] has one row per change, with what frontends read, and of backends what changed but not to what', async () => {
    const own = await seedProject(service.sql, 'audited')
    const ofTenant = await idOf({ tenant: own.tenantId })
    const secret = 'a-secret-of-the-backend'
    await update('Backend', ofTenant, {
      EnabledModules: ['menu'],
      KeyValuePairs: [
        ...pairsOf(2),
        { Key: 'password', Value: secret },
        { Key: 'long', Value: secret.repeat(50) },
      ],
    })
    await update('Backend', ofTenant, {
      KeyValuePairs: [...pairsOf(2), { Key: 'password', Value: `${secret}!` }],
    })
    const { KeyValuePairs } = fullConfigs.Frontend
    await update('Frontend', ofTenant, { DefaultTheme: 'dark', KeyValuePairs })
    await update('Frontend', ofTenant, { KeyValuePairs: [{ Key: 'a', Value: 'b' }], EnabledLocales: ['en'] })
    await empty('Frontend', ofTenant)
    const audited = await auditOf(ofTenant)
    const hidden = '[secret]'
    expect(audited.map(({ changes }) => changes)).toEqual([
      {
        'backend.EnabledModules': { before: [], after: ['menu'] },
        'backend.KeyValuePairs.key0': { before: null, after: hidden },
        'backend.KeyValuePairs.key1': { before: null, after: hidden },
        'backend.KeyValuePairs.password': { before: null, after: hidden },
        'backend.KeyValuePairs.long': { before: null, after: hidden },
      },
      {
        'backend.KeyValuePairs.password': { before: hidden, after: hidden },
        'backend.KeyValuePairs.long': { before: hidden, after: null },
      },
      {
        'frontend.DefaultTheme': { before: '', after: 'dark' },
        'frontend.KeyValuePairs.z': { before: null, after: '' },
        'frontend.KeyValuePairs.a': { before: null, after: 'ü 🙂 "\\' },
      },
      {
        'frontend.EnabledLocales': { before: [], after: ['en'] },
        'frontend.KeyValuePairs.z': { before: '', after: null },
        'frontend.KeyValuePairs.a': { before: 'ü 🙂 "\\', after: 'b' },
      },
      {
        'frontend.DefaultTheme': { before: 'dark', after: '' },
        'frontend.EnabledLocales': { before: ['en'], after: [] },
        'frontend.KeyValuePairs.a': { before: 'b', after: null },
      },
    ])
    for (const row of audited) {
      const metadata = { layer: 'tenant', tenantId: own.tenantId, applicationId: null }
      expect(row).toMatchObject({ action: 'update', user_id: admin.id, metadata })
      expect(row.text).not.toContain(secret)
    }
    expect(JSON.stringify(service.logLines)).not.toContain(secret)
  })

  test('[settings.update-backend] [settings.update-frontend] keeps a change of 10,000 keys, or of a long list, in a small row', async () => {
    const own = await seedProject(service.sql, 'many')
    const settingsId = await idOf({ project: own.id })
    const KeyValuePairs = pairsOf(10_000, 'v'.repeat(50))
    for (const part of parts)
      for (const answer of [await update(part, settingsId, { KeyValuePairs }), await empty(part, settingsId)])
        expect(answer.error).toBeNull()
    const EnabledModules = pairsOf(1_000).map(({ Key }) => Key.padEnd(214, 'm'))
    await update('Backend', settingsId, { EnabledModules })
    const audited = await auditOf(settingsId)
    expect(audited.map(({ changes }) => Object.keys(changes).length)).toEqual([101, 101, 101, 101, 1])
    for (const { text } of audited) expect(text.length).toBeLessThan(20_000)
    expect(audited[0]?.changes['backend.KeyValuePairs (9900 more)']).toEqual({
      before: '[secret]',
      after: '[secret]',
    })
    const digest: unknown = expect.stringMatching(/^sha256 [0-9a-f]{64}$/)
    expect(audited[2]?.changes['frontend.KeyValuePairs (9900 more)']).toEqual({
      before: digest,
      after: digest,
    })
  })

  test('[settings.update-backend] [settings.update-frontend] [settings.delete] what is refused, or changes nothing, leaves no row', async () => {
    const own = await seedProject(service.sql, 'traceless')
    const settingsId = await idOf({ project: own.id })
    for (const part of parts) {
      await empty(part, settingsId)
      await update(part, settingsId, emptyConfigs[part])
      expectRefused(
        await update(part, settingsId, { KeyValuePairs: [...pairsOf(1), ...pairsOf(1)] }),
        'bad_request',
      )
    }
    expect(await auditOf(settingsId)).toEqual([])
    for (const part of parts) await update(part, settingsId, fullConfigs[part])
    for (const part of parts)
      for (const input of [{}, fullConfigs[part]]) await update(part, settingsId, input)
    expect(await auditOf(settingsId)).toHaveLength(2)
  })
})
