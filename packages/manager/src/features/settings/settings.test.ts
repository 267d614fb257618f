// These tests cover settings through GraphQL: rows and their layers, reads, and the creation of settings for
// an application in a tenant. Other files cover changes (settings-writes.test.ts), permissions
// (settings-roles.test.ts) and merged values (settings-cascade.test.ts).
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { expectRefused, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedProject, seedTenant } from '@manager/harness/seed.ts'

type Owner = 'project' | 'tenant' | 'application' | 'tenant2application'
type Row = { id: string; backendSetting: { id: string }; frontendSetting: { id: string } }

const { service, admin, project, other } = useProject({ withOther: true })

const selected = `id
  backendSetting { id moduleConfig { EnabledModules KeyValuePairs { Key Value } } }
  frontendSetting {
    id moduleConfig { EnabledThemes DefaultTheme EnabledLocales DefaultLocale KeyValuePairs { Key Value } }
  }`
const emptyRow = (id: unknown) => ({
  id,
  backendSetting: { id, moduleConfig: { EnabledModules: [], KeyValuePairs: [] } },
  frontendSetting: {
    id,
    moduleConfig: {
      EnabledThemes: [],
      DefaultTheme: '',
      EnabledLocales: [],
      DefaultLocale: '',
      KeyValuePairs: [],
    },
  },
})

const read = (of: { [Name in Owner]?: string | null }) =>
  service.query(
    admin,
    `query($project: ID, $tenant: ID, $application: ID, $tenant2application: ID) {
      row: settings(project: $project, tenant: $tenant, application: $application,
        tenant2application: $tenant2application) { ${selected} }
    }`,
    of,
  )
const rowOf = async (owner: Owner, id: string): Promise<Row> => {
  const { data, error } = await read({ [owner]: id })
  expect(error).toBeNull()
  return data.row as Row
}
const ensure = (tenant2ApplicationId: string) =>
  service.query(
    admin,
    `mutation($id: ID!) { row: ensureTenant2ApplicationSettings(tenant2ApplicationId: $id) { ${selected} } }`,
    { id: tenant2ApplicationId },
  )
const setTheme = (id: string, theme: string) =>
  service.query(
    admin,
    'mutation($id: ID!, $theme: String) { updateFrontendModuleConfig(id: $id, input: {DefaultTheme: $theme}) { id } }',
    { id, theme },
  )
const leafThrough = (tenantId: string) =>
  service.query(
    admin,
    `query($tenantId: ID!) { rows: tenant2Applications(tenantId: $tenantId) { id settings { ${selected} } } }`,
    { tenantId },
  )
const insertBySql = (projectId: string, tenantId: string | null, applicationId: string | null) =>
  service.sql.query('insert into settings (project_id, tenant_id, application_id) values ($1, $2, $3)', [
    projectId,
    tenantId,
    applicationId,
  ])
const countIn = async (projectId: string): Promise<number> => {
  const { rows } = await service.sql.query('select 1 from settings where project_id = $1', [projectId])
  return rows.length
}

describe('the row of a layer', () => {
  test('[settings.container] [settings.query] each layer has a row of its own, whose id names both its parts', async () => {
    await ensure(project.tenant2ApplicationId)
    const ids = new Set<string>()
    for (const [owner, id] of [
      ['project', project.id],
      ['tenant', project.tenantId],
      ['application', project.applicationId],
      ['tenant2application', project.tenant2ApplicationId],
    ] as const) {
      const row = await rowOf(owner, id)
      expect(row).toEqual(emptyRow(uuid))
      expect([row.backendSetting.id, row.frontendSetting.id]).toEqual([row.id, row.id])
      ids.add(row.id)
    }
    expect(ids.size).toBe(4)
  })

  test('[settings.query] shows what its own layer sets and nothing of the others', async () => {
    const own = await seedProject(service.sql, 'unmerged')
    const { id } = await rowOf('project', own.id)
    await setTheme(id, 'of the project')
    for (const [owner, of] of [
      ['tenant', own.tenantId],
      ['application', own.applicationId],
    ] as const)
      expect(await rowOf(owner, of)).toEqual(emptyRow(uuid))
    expect(await rowOf('project', own.id)).toMatchObject({
      frontendSetting: { moduleConfig: { DefaultTheme: 'of the project' } },
    })
  })

  test('[settings.query] is the one of the layer named, in whatever order the rows were stored', async () => {
    const own = await seedProject(service.sql, 'shuffled')
    const { id, tenantId, applicationId, tenant2ApplicationId } = own
    const layers = [
      ['project', id, null, null],
      ['tenant', tenantId, tenantId, null],
      ['application', applicationId, null, applicationId],
      ['tenant2application', tenant2ApplicationId, tenantId, applicationId],
    ] as const
    for (const order of [layers, layers.toReversed()]) {
      await service.sql.query('delete from settings where project_id = $1', [id])
      for (const [, , tenant, application] of order) await insertBySql(id, tenant, application)
      for (const [owner, ownerId, tenant, application] of layers) {
        const { rows } = await service.sql.query(
          'select tenant_id, application_id from settings where id = $1',
          [(await rowOf(owner, ownerId)).id],
        )
        expect(rows).toEqual([{ tenant_id: tenant, application_id: application }])
      }
    }
  })

  test('[settings.container] the database refuses a second row for a layer', async () => {
    await ensure(project.tenant2ApplicationId)
    const { id, tenantId, applicationId } = project
    const before = await countIn(id)
    for (const [tenant, application] of [
      [null, null],
      [tenantId, null],
      [null, applicationId],
      [tenantId, applicationId],
    ] as const)
      await expect(insertBySql(id, tenant, application)).rejects.toMatchObject({
        code: '23505',
        constraint: expect.stringMatching(/^settings_(layer|project)_key$/),
      })
    expect(await countIn(id)).toBe(before)
  })

  test('[settings.container] the database refuses a leaf without its join row, and owners of two projects', async () => {
    const lonely = randomUUID()
    await seedTenant(service.sql, project.id, lonely, 'lonely')
    await expect(insertBySql(project.id, lonely, project.applicationId)).rejects.toMatchObject({
      code: '23503',
      constraint: 'settings_tenant2application_fkey',
    })
    for (const [tenant, application] of [
      [other.tenantId, null],
      [null, other.applicationId],
      [other.tenantId, other.applicationId],
    ] as const)
      await expect(insertBySql(project.id, tenant, application)).rejects.toMatchObject({ code: '23503' })
    await expect(insertBySql(randomUUID(), null, null)).rejects.toMatchObject({ code: '23503' })
  })

  test('[settings.container] a row goes with its owner, and nothing else does', async () => {
    const own = await seedProject(service.sql, 'going')
    await ensure(own.tenant2ApplicationId)
    expect(await countIn(own.id)).toBe(4)
    for (const [mutation, id, left] of [
      ['deleteTenant2Application', own.tenant2ApplicationId, 3],
      ['deleteTenant', own.tenantId, 2],
      ['deleteApplication', own.applicationId, 1],
      ['deleteProject', own.id, 0],
    ] as const) {
      expect((await service.query(admin, `mutation { ${mutation}(id: "${id}") }`)).error).toBeNull()
      expect(await countIn(own.id)).toBe(left)
    }
    for (const owner of ['project', 'tenant', 'application', 'tenant2application'] as const)
      expect((await read({ [owner]: own.id })).error).toBe('settings not found')
  })

  test('[settings.query] naming none or two owners is an error that says so', async () => {
    const { id, tenantId, applicationId, tenant2ApplicationId } = project
    const said = 'pass exactly one of project, tenant, application and tenant2application'
    for (const named of [
      {},
      { project: null },
      { project: null, tenant: null, application: null, tenant2application: null },
      { project: id, tenant: tenantId },
      { tenant: tenantId, application: applicationId },
      { tenant: tenantId, tenant2application: tenant2ApplicationId },
      { project: randomUUID(), tenant: randomUUID() },
      { project: id, tenant: tenantId, application: applicationId, tenant2application: tenant2ApplicationId },
    ]) {
      const answer = await read(named)
      expectRefused(answer, 'bad_request')
      expect(answer.error).toBe(said)
    }
    expect((await service.query(admin, '{ settings { id } }')).error).toBe(said)
    // A null argument counts as absent.
    expect((await read({ project: id, tenant: null })).error).toBeNull()
  })

  test('[settings.query] an owner that is unknown, or of another kind, has no row', async () => {
    const { id, tenantId, applicationId } = project
    for (const named of [
      { project: randomUUID() },
      { project: tenantId },
      { tenant: id },
      { tenant: applicationId },
      { application: tenantId },
      { tenant2application: tenantId },
      { tenant: 'nothing' },
      { application: '' },
    ]) {
      const answer = await read(named)
      expectRefused(answer, 'not_found')
      expect(answer.error).toBe('settings not found')
    }
  })
})

describe('rows appear with their owners', () => {
  test('[settings.row-with-parent] creating a project, a tenant and an application creates their empty rows', async () => {
    const made = await service.query(
      admin,
      'mutation { made: createProject(input: {name: "Fresh", slug: "fresh"}) { id } }',
    )
    const projectId = made.data.made.id as string
    expect(await countIn(projectId)).toBe(1)
    expect(await rowOf('project', projectId)).toEqual(emptyRow(uuid))
    const input = '{name: "Fresh", slug: "fresh"}'
    const tenant = await service.query(
      admin,
      `mutation { made: createTenant(projectId: "${projectId}", input: ${input}) { id } }`,
    )
    expect(await rowOf('tenant', tenant.data.made.id as string)).toEqual(emptyRow(uuid))
    const application = await service.query(
      admin,
      `mutation { made: createApplication(projectId: "${projectId}", input: ${input}) { id } }`,
    )
    expect(await rowOf('application', application.data.made.id as string)).toEqual(emptyRow(uuid))
    expect(await countIn(projectId)).toBe(3)
    const owners = `tenantId: "${tenant.data.made.id}", applicationId: "${application.data.made.id}"`
    const joined = await service.query(
      admin,
      `mutation { made: createTenant2Application(input: {${owners}}) { id settings { id } } }`,
    )
    expect(joined.data.made).toEqual({ id: uuid, settings: null })
    expect(await countIn(projectId)).toBe(3)
  })

  test('[settings.row-with-parent] owners that are made past the API have theirs too', async () => {
    const own = await seedProject(service.sql, 'by-sql')
    expect(await countIn(own.id)).toBe(3)
    for (const [owner, id] of [
      ['project', own.id],
      ['tenant', own.tenantId],
      ['application', own.applicationId],
    ] as const)
      expect(await rowOf(owner, id)).toEqual(emptyRow(uuid))
  })

  test('[settings.row-with-parent] owners that are older than the table get theirs when it is first asked for, also by several at once', async () => {
    const own = await seedProject(service.sql, 'older')
    await service.sql.query('delete from settings where project_id = $1', [own.id])
    for (const [owner, id] of [
      ['project', own.id],
      ['tenant', own.tenantId],
      ['application', own.applicationId],
    ] as const) {
      const rows = await Promise.all(Array.from({ length: 4 }, () => rowOf(owner, id)))
      expect(rows[0]).toEqual(emptyRow(uuid))
      expect(new Set(rows.map((row) => row.id)).size).toBe(1)
      expect((await setTheme(rows[0]?.id ?? '', owner)).error).toBeNull()
    }
    expect((await read({ tenant2application: own.tenant2ApplicationId })).error).toBe('settings not found')
    expect(await countIn(own.id)).toBe(3)
  })

  test('[settings.row-with-parent] nothing in the schema creates settings but the way to a leaf', async () => {
    const { data } = await service.query(admin, '{ type: __type(name: "Mutation") { fields { name } } }')
    const names = (data.type.fields as { name: string }[]).map(({ name }) => name)
    expect(names.filter((name) => /settings/i.test(name)).toSorted()).toEqual([
      'deleteBackendSettings',
      'deleteFrontendSettings',
      'ensureTenant2ApplicationSettings',
      'setSettingsKeys',
    ])
    const tried = await service.query(admin, `mutation { createSettings(projectId: "${project.id}") { id } }`)
    expect(tried.error).toContain('Cannot query field "createSettings"')
  })
})

describe('the leaf', () => {
  test('[settings.leaf-field] [settings.ensure-leaf] is null until it is ensured, and the same row ever after', async () => {
    const { tenantId, tenant2ApplicationId: id } = await seedProject(service.sql, 'leaf')
    expect((await leafThrough(tenantId)).data.rows).toEqual([{ id, settings: null }])
    expect((await read({ tenant2application: id })).error).toBe('settings not found')
    const { data } = await ensure(id)
    const row = data.row as Row
    expect(row).toEqual(emptyRow(uuid))
    expect((await ensure(id)).data.row).toEqual(row)
    expect(await rowOf('tenant2application', id)).toEqual(row)
    await setTheme(row.id, 'kept')
    const again = await ensure(id)
    expect(again.data.row).toMatchObject({
      id: row.id,
      frontendSetting: { moduleConfig: { DefaultTheme: 'kept' } },
    })
    expect((await leafThrough(tenantId)).data.rows).toEqual([{ id, settings: again.data.row }])
  })

  test('[settings.ensure-leaf] calls that race make one row and one audit row, and all answer it', async () => {
    const own = await seedProject(service.sql, 'raced')
    const answers = await Promise.all(Array.from({ length: 5 }, () => ensure(own.tenant2ApplicationId)))
    expect(answers.map(({ error }) => error)).toEqual(Array(5).fill(null))
    const ids = new Set(answers.map(({ data }) => data.row.id as string))
    expect(ids.size).toBe(1)
    expect(await countIn(own.id)).toBe(4)
    const { rows } = await service.sql.query(
      'select action, metadata from audit_logs where entity_id = any($1)',
      [[...ids]],
    )
    const { tenantId, applicationId } = own
    const metadata = { layer: 'tenant2application', tenantId, applicationId }
    expect(rows).toEqual([{ action: 'create', metadata }])
  })

  test('[settings.ensure-leaf] an unknown row is an error; a row that is joined anew starts with an empty leaf', async () => {
    for (const unknown of [randomUUID(), 'nothing', project.tenantId])
      expect((await ensure(unknown)).error).toBe('tenant2Application not found')
    const { tenantId, applicationId, tenant2ApplicationId } = await seedProject(service.sql, 'anew')
    const first = (await ensure(tenant2ApplicationId)).data.row as Row
    await setTheme(first.id, 'forgotten')
    await service.query(admin, `mutation { deleteTenant2Application(id: "${tenant2ApplicationId}") }`)
    expect((await ensure(tenant2ApplicationId)).error).toBe('tenant2Application not found')
    const joined = await service.query(
      admin,
      `mutation { made: createTenant2Application(input: {tenantId: "${tenantId}", applicationId: "${applicationId}"}) { id } }`,
    )
    const second = (await ensure(joined.data.made.id as string)).data.row as Row
    expect(second).toEqual(emptyRow(uuid))
    expect(second.id).not.toBe(first.id)
  })

  test('[settings.leaf-field] a list whose leaves would be too much at once says so, and smaller pages pass', async () => {
    const own = await seedProject(service.sql, 'heavy')
    const KeyValuePairs = [{ Key: 'k', Value: 'v'.repeat(2 * 1_048_576 - 1) }]
    const list = (fields: string, limit: number) =>
      service.query(
        admin,
        `{ rows: tenant2Applications(applicationId: "${own.applicationId}", pagination: {limit: ${limit}, offset: 0}) { id ${fields} } }`,
      )
    const fields = 'settings { frontendSetting { moduleConfig { KeyValuePairs { Value } } } }'
    const answers: unknown[] = []
    for (let leaves = 1; leaves <= 4; leaves++) {
      const [tenantId, rowId] = [randomUUID(), leaves === 1 ? own.tenant2ApplicationId : randomUUID()]
      if (leaves > 1) {
        await seedTenant(service.sql, own.id, tenantId, `heavy-${leaves}`)
        await service.sql.query(
          'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
          [rowId, own.id, tenantId, own.applicationId],
        )
      }
      const { id } = (await ensure(rowId)).data.row as Row
      for (const part of ['Backend', 'Frontend']) {
        const saved = await service.query(
          admin,
          `mutation($id: ID!, $input: Update${part}ModuleConfigInput!) { update${part}ModuleConfig(id: $id, input: $input) { id } }`,
          { id, input: { KeyValuePairs } },
        )
        expect(saved.error).toBeNull()
      }
      const listed = await list(fields, 10)
      answers.push(listed.error ?? (listed.data.rows as unknown[]).length)
    }
    const said =
      'the contents of this response would exceed 16777216 bytes; request smaller pages or fewer fields'
    expect(answers).toEqual([1, 2, 3, said])
    expect((await list(fields, 1)).data.rows).toHaveLength(1)
    const leaf = `settings(tenant2application: "${own.tenant2ApplicationId}") { ${selected} }`
    const fields4 = [1, 2, 3, 4].map((alias) => `a${alias}: ${leaf}`)
    expect((await service.query(admin, `{ ${fields4.slice(0, 3).join(' ')} }`)).error).toBeNull()
    expect((await service.query(admin, `{ ${fields4.join(' ')} }`)).error).toBe(said)
    expect((await list('', 10)).data.rows).toHaveLength(4)
  })
})
