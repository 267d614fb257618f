// These tests cover the permissions to change settings, by layer, and to copy settings, which requires permissions on
// both rows.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { expectRefused } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedMember, seedTenant, seedUser } from '@manager/harness/seed.ts'

type Owner = { project?: string; tenant?: string; application?: string; row?: string }
/** A tenant, its application row, and the settings ids of both. */
type TenantScope = { tenantId: string; rowId: string; settings: { tenant: string; leaf: string } }

let ofProject: string
let ofApplication: string
let home: TenantScope
let neighbour: TenantScope
let abroad: TenantScope

const { service, admin, project, other } = useProject({ withOther: true })
beforeAll(async () => {
  ofProject = await idOf({ project: project.id })
  ofApplication = await idOf({ application: project.applicationId })
  home = await seedScope(project)
  neighbour = await seedScope(project)
  abroad = await seedScope(other)
})

const configs = `id
  backendSetting { moduleConfig { EnabledModules KeyValuePairs { Key Value } } }
  frontendSetting { moduleConfig { EnabledThemes DefaultTheme EnabledLocales DefaultLocale KeyValuePairs { Key Value } } }`
const emptyConfigs = {
  backendSetting: { moduleConfig: { EnabledModules: [], KeyValuePairs: [] } },
  frontendSetting: {
    moduleConfig: {
      EnabledThemes: [],
      DefaultTheme: '',
      EnabledLocales: [],
      DefaultLocale: '',
      KeyValuePairs: [],
    },
  },
}
const fullConfigs = {
  backendSetting: { moduleConfig: { EnabledModules: ['menu'], KeyValuePairs: [{ Key: 'b', Value: '1' }] } },
  frontendSetting: {
    moduleConfig: {
      EnabledThemes: ['light'],
      DefaultTheme: 'dark',
      EnabledLocales: ['de', 'en'],
      DefaultLocale: 'de',
      KeyValuePairs: [{ Key: 'f', Value: '' }],
    },
  },
}

const idOf = async (owner: Owner): Promise<string> => {
  const { data } = await read(owner)
  return data.row.id as string
}
const read = (owner: Owner, caller = admin) =>
  service.query(
    caller,
    `query($project: ID, $tenant: ID, $application: ID, $row: ID) {
      row: settings(project: $project, tenant: $tenant, application: $application, tenant2application: $row) { ${configs} }
    }`,
    owner,
  )
const newRow = async ({ id, applicationId }: SeededProject, enabled = true) => {
  const [tenantId, rowId] = [randomUUID(), randomUUID()]
  await seedTenant(service.sql, id, tenantId, `t-${tenantId}`)
  await service.sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, $5)',
    [rowId, id, tenantId, applicationId, enabled],
  )
  return { tenantId, rowId }
}
const seedScope = async (of: SeededProject): Promise<TenantScope> => {
  const { tenantId, rowId } = await newRow(of)
  const leaf = (await ensure(rowId)).data.row.id as string
  return { tenantId, rowId, settings: { tenant: await idOf({ tenant: tenantId }), leaf } }
}
const ensure = (rowId: string, caller = admin) =>
  service.query(
    caller,
    `mutation($id: ID!) { row: ensureTenant2ApplicationSettings(tenant2ApplicationId: $id) { ${configs} } }`,
    { id: rowId },
  )
const copy = (source: string, target: string, caller = admin, expectedRevision?: number) =>
  service.query(
    caller,
    `mutation($input: CopyTenant2ApplicationConfigInput!) {
      row: copyTenant2ApplicationConfig(input: $input) { id enabled settings { ${configs} } }
    }`,
    { input: { sourceTenant2ApplicationId: source, targetTenant2ApplicationId: target, expectedRevision } },
  )
const effective = (caller: Person, { tenantId }: TenantScope) =>
  service.query(
    caller,
    `{ effectiveSettings(applicationId: "${project.applicationId}", tenantId: "${tenantId}") { backend { EnabledModules { layer } } } }`,
  )
/** Sets every field of an application's settings in a tenant, and returns the settings id. */
const fill = async (rowId: string): Promise<string> => {
  const id = (await ensure(rowId)).data.row.id as string
  const { error } = await service.query(
    admin,
    `mutation($id: ID!, $backend: UpdateBackendModuleConfigInput!, $frontend: UpdateFrontendModuleConfigInput!) {
      updateBackendModuleConfig(id: $id, input: $backend) { id }
      updateFrontendModuleConfig(id: $id, input: $frontend) { id }
    }`,
    {
      id,
      backend: fullConfigs.backendSetting.moduleConfig,
      frontend: fullConfigs.frontendSetting.moduleConfig,
    },
  )
  expect(error).toBeNull()
  return id
}
const person = async (
  name: string,
  ...roles: [string, { projectId: string; tenantId?: string; applicationId?: string }][]
) => {
  const made = await seedUser(service.sql, name)
  for (const [role, of] of roles) await seedMember(service.sql, made, role, of)
  return made
}
/** Creates a tenant role with exactly these permissions. */
const newTenantRole = (tenantId: string, name: string, permissions: string[]) =>
  service.sql.query(
    `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions, seeded)
     values (gen_random_uuid(), $1, $2, $3, $4, false)`,
    [project.id, tenantId, name, permissions],
  )

/** Owners whose settings apply to all tenants. */
const shared = (): Owner[] => [{ project: project.id }, { application: project.applicationId }]
const ownersIn = ({ tenantId, rowId }: TenantScope): Owner[] => [{ tenant: tenantId }, { row: rowId }]

/** All mutations that change a settings row. */
const changesOf = (id: string): string[] => [
  `updateBackendModuleConfig(id: "${id}", input: {EnabledModules: ["changed"]}) { id }`,
  `updateFrontendModuleConfig(id: "${id}", input: {DefaultTheme: "changed"}) { id }`,
  `deleteBackendSettings(id: "${id}")`,
  `deleteFrontendSettings(id: "${id}")`,
]
const errorsOf = async (caller: Person, id: string): Promise<(string | null)[]> => {
  const answers: GraphqlAnswer[] = []
  for (const change of changesOf(id)) answers.push(await service.query(caller, `mutation { ${change} }`))
  return answers.map(({ error }) => error)
}
const all = <T>(value: T): T[] => changesOf('').map(() => value)
/** Returns all settings rows as text, including their update times. */
const everything = async (): Promise<unknown[]> =>
  (await service.sql.query<{ text: string }>('select settings::text as text from settings order by id')).rows
const notPermitted =
  'not permitted: requires project role developer or higher, or tenant permission apps.configure, or system role administrator'

describe('roles in the project', () => {
  test('[settings.role-developer] developers and above change every layer', async () => {
    for (const role of ['developer', 'maintainer', 'owner']) {
      const caller = await person(role, [role, { projectId: project.id }])
      for (const id of [ofProject, ofApplication, home.settings.tenant, home.settings.leaf])
        expect(await errorsOf(caller, id)).toEqual(all(null))
      const { rowId } = await newRow(project)
      expect((await ensure(rowId, caller)).error).toBeNull()
      expect((await copy(home.rowId, rowId, caller)).error).toBeNull()
    }
  })

  test('[settings.role-developer] testers and readers see every layer, change none, and are told what it takes', async () => {
    const bare = await newRow(project)
    for (const role of ['tester', 'readonly']) {
      const caller = await person(role, [role, { projectId: project.id }])
      const before = await everything()
      for (const id of [ofProject, ofApplication, home.settings.tenant, home.settings.leaf])
        expect(await errorsOf(caller, id)).toEqual(all(notPermitted))
      expect((await ensure(bare.rowId, caller)).error).toBe(notPermitted)
      expect((await copy(home.rowId, bare.rowId, caller)).error).toBe(notPermitted)
      expect(await everything()).toEqual(before)
      for (const owner of [...shared(), ...ownersIn(home)])
        expect((await read(owner, caller)).error).toBeNull()
      expect((await effective(caller, home)).error).toBeNull()
    }
  })

  test('[settings.role-developer] a role in the application, or in another project, reaches no settings', async () => {
    const before = await everything()
    for (const caller of [
      await person('user', ['normal', { projectId: project.id, applicationId: project.applicationId }]),
      await person('stranger', ['owner', { projectId: other.id }]),
    ]) {
      for (const id of [ofProject, ofApplication, home.settings.tenant, home.settings.leaf, randomUUID()])
        expect(await errorsOf(caller, id)).toEqual(all('settings not found'))
      expect((await ensure(home.rowId, caller)).error).toBe('tenant2Application not found')
      expect((await effective(caller, home)).error).toBe('tenant2Application not found')
      for (const owner of [...shared(), ...ownersIn(home)])
        expect((await read(owner, caller)).error).toBe('settings not found')
    }
    expect(await everything()).toEqual(before)
  })
})

describe('roles in a tenant', () => {
  test('[settings.role-apps-configure] apps.configure changes the tenant and its leaves, and no other layer or tenant', async () => {
    await newTenantRole(home.tenantId, 'configurator', ['apps.configure'])
    for (const role of ['configurator', 'admin', 'owner']) {
      const caller = await person(role, [role, { projectId: project.id, tenantId: home.tenantId }])
      for (const id of [home.settings.tenant, home.settings.leaf])
        expect(await errorsOf(caller, id)).toEqual(all(null))
      expect((await ensure(home.rowId, caller)).data.row.id).toBe(home.settings.leaf)
      for (const owner of ownersIn(home)) expect((await read(owner, caller)).error).toBeNull()
      const before = await everything()
      for (const id of [ofProject, ofApplication, neighbour.settings.tenant, neighbour.settings.leaf])
        expect(await errorsOf(caller, id)).toEqual(all('settings not found'))
      expect((await ensure(neighbour.rowId, caller)).error).toBe('tenant2Application not found')
      for (const owner of [...shared(), ...ownersIn(neighbour)])
        expect((await read(owner, caller)).error).toBe('settings not found')
      // The response would reveal backend settings of the project and the application.
      expectRefused(await effective(caller, home), role === 'configurator' ? 'not_found' : 'forbidden')
      expect(await everything()).toEqual(before)
    }
  })

  test('[settings.role-apps-configure] a tenant role without it changes and sees no settings', async () => {
    await newTenantRole(home.tenantId, 'host', ['apps.read', 'members', 'invites'])
    const before = await everything()
    for (const role of ['host', 'member']) {
      const caller = await person(role, [role, { projectId: project.id, tenantId: home.tenantId }])
      for (const id of [ofProject, ofApplication, home.settings.tenant, home.settings.leaf])
        expect(await errorsOf(caller, id)).toEqual(all('settings not found'))
      expect((await ensure(home.rowId, caller)).error).toBe(notPermitted)
      expect((await copy(home.rowId, home.rowId, caller)).error).toBe(notPermitted)
      const listed = await service.query(
        caller,
        `{ rows: tenant2Applications(tenantId: "${home.tenantId}") { id settings { id } } }`,
      )
      expect(listed.errors[0]?.extensions?.code).toBe('forbidden')
      expect(JSON.stringify(listed.data)).not.toContain(home.settings.leaf)
    }
    expect(await everything()).toEqual(before)
  })

  test('[settings.role-apps-configure] holds for as long as the role has it', async () => {
    await newTenantRole(home.tenantId, 'passing', ['apps.read', 'apps.configure'])
    const caller = await person('passing', ['passing', { projectId: project.id, tenantId: home.tenantId }])
    expect(await errorsOf(caller, home.settings.tenant)).toEqual(all(null))
    await service.sql.query(
      `update tenant_role_definitions set permissions = '{apps.read}' where name = 'passing'`,
    )
    expect(await errorsOf(caller, home.settings.tenant)).toEqual(all('settings not found'))
  })
})

describe('who may copy', () => {
  const unseen = 'tenant2Application not found'

  test('[settings.copy-both-manageable] whoever may change one of the two rows only is refused, whichever it is', async () => {
    const inHome = { projectId: project.id, tenantId: home.tenantId }
    const inNeighbour = { projectId: project.id, tenantId: neighbour.tenantId }
    const before = await everything()
    for (const [caller, far, said] of [
      [await person('admin-here', ['admin', inHome]), neighbour, unseen],
      [
        await person('admin-here-member-there', ['admin', inHome], ['member', inNeighbour]),
        neighbour,
        notPermitted,
      ],
      [await person('dev-here', ['developer', { projectId: project.id }]), abroad, unseen],
      [
        await person(
          'dev-here-tester-there',
          ['developer', { projectId: project.id }],
          ['tester', { projectId: other.id }],
        ),
        abroad,
        notPermitted,
      ],
    ] as const) {
      for (const answer of [
        await copy(home.rowId, far.rowId, caller),
        await copy(far.rowId, home.rowId, caller),
      ]) {
        expectRefused(answer, said === unseen ? 'not_found' : 'forbidden')
        expect(answer.error).toBe(said)
      }
      // An inaccessible row returns the same error as a row that does not exist.
      for (const answer of [
        await copy(home.rowId, randomUUID(), caller),
        await copy(randomUUID(), home.rowId, caller),
      ])
        expect(answer.error).toBe(unseen)
    }
    expect(await everything()).toEqual(before)
  })

  test('[settings.copy] [settings.copy-both-manageable] whoever may change both copies, across tenants and across projects', async () => {
    const tenants = [home, neighbour].map(
      ({ tenantId }) =>
        ['admin', { projectId: project.id, tenantId }] as [string, { projectId: string; tenantId: string }],
    )
    for (const [caller, source, target, inProject] of [
      [await person('admin-of-both', ...tenants), home, neighbour, project],
      [
        await person(
          'dev-of-both',
          ['developer', { projectId: project.id }],
          ['developer', { projectId: other.id }],
        ),
        home,
        abroad,
        other,
      ],
    ] as const) {
      await fill(source.rowId)
      const { data, error } = await copy(source.rowId, target.rowId, caller)
      expect(error).toBeNull()
      expect(data.row.settings).toEqual({ id: target.settings.leaf, ...fullConfigs })
      const { rows } = await service.sql.query(
        `select chain_id, user_id from audit_logs where entity_type = 'settings' and entity_id = $1
         order by created_at desc, seq desc limit 1`,
        [target.settings.leaf],
      )
      expect(rows).toEqual([{ chain_id: inProject.id, user_id: caller.id }])
    }
  })
})

describe('copying', () => {
  test('[settings.copy] the settings of the target become those of the source, and whether it is enabled stays', async () => {
    const [source, target] = [await newRow(project), await newRow(project, false)]
    const ofSource = await fill(source.rowId)
    const ofTarget = await fill(target.rowId)
    const change = `updateBackendModuleConfig(id: "${ofTarget}", input: {EnabledModules: ["gone"], KeyValuePairs: []}) { id }`
    await service.query(admin, `mutation { ${change} }`)
    const { data } = await copy(source.rowId.toUpperCase(), target.rowId.toUpperCase())
    expect(data.row).toEqual({ id: target.rowId, enabled: false, settings: { id: ofTarget, ...fullConfigs } })
    // After the copy, the two settings rows are independent.
    expect(await errorsOf(admin, ofSource)).toEqual(all(null))
    expect((await read({ row: target.rowId })).data.row).toEqual({ id: ofTarget, ...fullConfigs })
    expect((await read({ row: source.rowId })).data.row).toEqual({ id: ofSource, ...emptyConfigs })
  })

  test('[settings.copy] an outdated revision of the target changes nothing; 0 stands for a target without settings', async () => {
    const [source, target] = [await newRow(project), await newRow(project)]
    await fill(source.rowId)
    const copyExpecting = async (expected: number): Promise<unknown> => {
      const { data, errors } = await copy(source.rowId, target.rowId, admin, expected)
      return errors[0]?.extensions ?? (data.row as { settings: object }).settings
    }
    const before = await everything()
    expect(await copyExpecting(1)).toMatchObject({ code: 'CONFLICT', currentRevision: 0 })
    expect(await copyExpecting(1)).not.toHaveProperty('changedBy')
    expect(await everything()).toEqual(before)
    expect(await copyExpecting(0)).toMatchObject(fullConfigs)
    const id = await idOf({ row: target.rowId })
    expect(await errorsOf(admin, id)).toEqual(all(null))
    for (const outdated of [0, 2])
      expect(await copyExpecting(outdated)).toMatchObject({ code: 'CONFLICT', currentRevision: 6 })
    expect((await read({ row: target.rowId })).data.row).toEqual({ id, ...emptyConfigs })
    expect(await copyExpecting(6)).toMatchObject(fullConfigs)
  })

  test('[settings.copy] a target without a leaf gets one; a source without one empties the target', async () => {
    const [{ rowId: full }, { rowId: bare }, { rowId: target }] = [
      await newRow(project),
      await newRow(project),
      await newRow(project),
    ]
    await fill(full)
    const filled = await copy(full, target)
    expect(filled.data.row.settings).toMatchObject(fullConfigs)
    const emptied = await copy(bare, target)
    expect(emptied.data.row.settings).toEqual({ id: filled.data.row.settings.id as string, ...emptyConfigs })
    expect((await read({ row: bare })).error).toBe('settings not found')
    expect((await copy(bare, (await newRow(project)).rowId)).data.row.settings).toMatchObject(emptyConfigs)
    expect((await read({ row: full })).data.row).toMatchObject(fullConfigs)
  })

  test('[settings.copy] to itself changes nothing, with a leaf or without', async () => {
    const { rowId } = await newRow(project)
    expect((await copy(rowId, rowId)).data.row.settings).toMatchObject(emptyConfigs)
    const id = await fill(rowId)
    expect((await copy(rowId, rowId)).data.row.settings).toEqual({ id, ...fullConfigs })
  })

  test('[settings.copy] an unknown source or target is an error, and nothing changes', async () => {
    const before = await everything()
    for (const unknown of [randomUUID(), 'nothing', home.settings.leaf])
      for (const answer of [await copy(unknown, home.rowId), await copy(home.rowId, unknown)])
        expect(answer.error).toBe('tenant2Application not found')
    expect(await everything()).toEqual(before)
  })
})
