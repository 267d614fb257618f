import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject, seedTenant, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project, other, member } = useProject({ withOther: true })

const row = 'id enabled tenant { id slug } application { id slug }'

const createMutation = `mutation($input: CreateTenant2ApplicationInput!) {
  createTenant2Application(input: $input) { ${row} }
}`

const create = (input: { tenantId: string; applicationId: string; enabled?: boolean }, caller = admin) =>
  service.query(caller, createMutation, { input: { enabled: true, ...input } })

const update = (id: string, input: { enabled?: boolean | null }) =>
  service.query(
    admin,
    `mutation($id: ID!, $input: UpdateTenant2ApplicationInput!) {
      updateTenant2Application(id: $id, input: $input) { ${row} }
    }`,
    { id, input },
  )

const remove = (id: string) =>
  service.query(admin, 'mutation($id: ID!) { deleteTenant2Application(id: $id) }', { id })

const list = (of: { tenantId?: string; applicationId?: string }, caller = admin) =>
  service.query(
    caller,
    `query($applicationId: ID, $tenantId: ID) {
      tenant2Applications(applicationId: $applicationId, tenantId: $tenantId) { ${row} }
    }`,
    of,
  )

const idsIn = async (of: { tenantId?: string; applicationId?: string }) => {
  const { data, error } = await list(of)
  expect(error).toBeNull()
  return (data.tenant2Applications as { id: string }[]).map(({ id }) => id)
}

/** Creates another tenant in a project, without any application. */
const newTenant = async (projectId: string, slug: string): Promise<string> => {
  const id = randomUUID()
  await seedTenant(service.sql, projectId, id, slug)
  return id
}

const insertBySql = (projectId: string, tenantId: string, applicationId: string) =>
  service.sql.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     values (gen_random_uuid(), $1, $2, $3, true)`,
    [projectId, tenantId, applicationId],
  )

describe('tenant-application rows', () => {
  test('[tenant2applications.create] [tenant2applications.fields] stores and returns the row', async () => {
    const tenantId = await newTenant(project.id, 'joined')
    const created = await create({ tenantId, applicationId: project.applicationId, enabled: false })
    expect(created.error).toBeNull()
    expect(created.data.createTenant2Application).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      enabled: false,
      tenant: { id: tenantId, slug: 'joined' },
      application: { id: project.applicationId, slug: project.applicationSlug },
    })
    const read = await list({ tenantId, applicationId: project.applicationId })
    expect(read.data.tenant2Applications).toEqual([created.data.createTenant2Application])
  })

  test('[tenant2applications.create] the row is enabled unless it says otherwise, on every call of the same text', async () => {
    const { applicationId } = project
    const answers = []
    for (const slug of ['default-1', 'default-2', 'default-3']) {
      const tenantId = await newTenant(project.id, slug)
      answers.push(await service.query(admin, createMutation, { input: { tenantId, applicationId } }))
    }
    expect(answers.map(({ error }) => error)).toEqual([null, null, null])
    for (const { data } of answers) expect(data.createTenant2Application.enabled).toBe(true)
    const tenantId = await newTenant(project.id, 'default-literal')
    const literal = await service.query(
      admin,
      `mutation {
        createTenant2Application(input: {tenantId: "${tenantId}", applicationId: "${applicationId}"}) { enabled }
      }`,
    )
    expect(literal.data.createTenant2Application.enabled).toBe(true)
  })

  test('[tenant2applications.create] an unknown tenant or application is an error', async () => {
    const { tenantId, applicationId } = project
    for (const unknown of [randomUUID(), 'nothing']) {
      expect((await create({ tenantId: unknown, applicationId })).error).toBe('tenant not found')
      expect((await create({ tenantId, applicationId: unknown })).error).toBe('application not found')
    }
  })

  test('[tenant2applications.fields] enabled is a Boolean, tenant and application are the objects', async () => {
    const { data } = await service.query(
      admin,
      '{ type: __type(name: "Tenant2Application") { fields { name type { kind ofType { name } } } } }',
    )
    const required = (name: string, type: string) => ({
      name,
      type: { kind: 'NON_NULL', ofType: { name: type } },
    })
    expect(data.type.fields).toEqual(
      expect.arrayContaining([
        required('id', 'ID'),
        required('enabled', 'Boolean'),
        required('tenant', 'Tenant'),
        required('application', 'Application'),
      ]),
    )
  })

  test('[tenant2applications.list] returns the rows of the application and tenant named', async () => {
    const lists = await seedProject(service.sql, 'lists')
    const { tenantId, applicationId, tenant2ApplicationId } = lists
    const second = await newTenant(lists.id, 'lists-second')
    const created = await create({ tenantId: second, applicationId })
    const secondId = created.data.createTenant2Application.id as string
    expect(await idsIn({ tenantId, applicationId })).toEqual([tenant2ApplicationId])
    expect(await idsIn({ tenantId: second, applicationId })).toEqual([secondId])
    expect(await idsIn({ tenantId })).toEqual([tenant2ApplicationId])
    expect((await idsIn({ applicationId })).toSorted()).toEqual([tenant2ApplicationId, secondId].toSorted())
    expect(await idsIn({ tenantId, applicationId: other.applicationId })).toEqual([])
    expect(await idsIn({ tenantId, applicationId: randomUUID() })).toEqual([])
  })

  test('[tenant2applications.list] naming neither or something unknown is an error', async () => {
    const unknown = 'tenant or application not found'
    for (const named of [
      {},
      { tenantId: randomUUID() },
      { tenantId: 'nothing' },
      { applicationId: randomUUID() },
      { tenantId: randomUUID(), applicationId: project.applicationId },
    ]) {
      const answer = await list(named)
      expect(answer.error).toBe(unknown)
      expect(answer.data).toBeNull()
    }
  })

  test('[tenant2applications.list] [policy.tenant-apps-read] a tenant member reads the rows of their tenant and of no other', async () => {
    const house = await seedProject(service.sql, 'house')
    const neighbour = await newTenant(house.id, 'neighbour')
    await create({ tenantId: neighbour, applicationId: house.applicationId })
    const member = await seedUser(service.sql, 'house-member')
    await seedMember(service.sql, member, 'member', { projectId: house.id, tenantId: house.tenantId })
    const own = await list({ tenantId: house.tenantId }, member)
    expect(own.data.tenant2Applications).toEqual([
      {
        id: house.tenant2ApplicationId,
        enabled: true,
        tenant: { id: house.tenantId, slug: 'house-tenant' },
        application: { id: house.applicationId, slug: 'house-app' },
      },
    ])
    for (const named of [{ tenantId: neighbour }, { applicationId: house.applicationId }])
      expect((await list(named, member)).error).toBe('tenant or application not found')
  })

  test('[tenant2applications.change] the row is switched off and on, returned, and removed', async () => {
    const { id: projectId, tenant2ApplicationId: id, tenantId } = await seedProject(service.sql, 'switched')
    for (const enabled of [false, true, false]) {
      const changed = await update(id, { enabled })
      expect(changed.data.updateTenant2Application).toMatchObject({ id, enabled, tenant: { id: tenantId } })
      expect((await list({ tenantId })).data.tenant2Applications[0].enabled).toBe(enabled)
    }
    for (const input of [{}, { enabled: null }])
      expect((await update(id, input)).data.updateTenant2Application.enabled).toBe(false)
    expect((await remove(id)).data).toEqual({ deleteTenant2Application: true })
    expect(await idsIn({ tenantId })).toEqual([])
    expect((await remove(id)).error).toBe('tenant2Application not found')
    expect((await update(id, { enabled: true })).error).toBe('tenant2Application not found')
    const { rows } = await service.sql.query('select 1 from tenants where project_id = $1', [projectId])
    expect(rows).toHaveLength(1)
  })

  test('[tenant2applications.one-per-pair] a second row for the pair is refused; after removal a new one passes', async () => {
    const { tenantId, applicationId, tenant2ApplicationId } = await seedProject(service.sql, 'pairs')
    const second = await create({ tenantId, applicationId, enabled: false })
    expect(second.errors[0]?.extensions?.code).toBe('conflict')
    expect(second.data).toBeNull()
    expect((await list({ tenantId })).data.tenant2Applications).toMatchObject([
      { id: tenant2ApplicationId, enabled: true },
    ])
    await remove(tenant2ApplicationId)
    expect((await create({ tenantId, applicationId })).error).toBeNull()
  })

  test('[tenant2applications.one-per-pair] of two racing rows for the pair one is stored', async () => {
    const tenantId = await newTenant(project.id, 'raced')
    const { applicationId } = project
    const answers = await Promise.all([1, 2, 3].map(() => create({ tenantId, applicationId })))
    expect(answers.filter((answer) => answer.error === null)).toHaveLength(1)
    expect(await idsIn({ tenantId })).toHaveLength(1)
  })

  test('[tenant2applications.cross-project] the API refuses to join across projects, also for whoever owns both', async () => {
    const owner = await member('owner-of-both', 'owner')
    await seedMember(service.sql, owner, 'owner', { projectId: other.id })
    for (const caller of [admin, owner])
      for (const [tenantId, applicationId] of [
        [project.tenantId, other.applicationId],
        [other.tenantId, project.applicationId],
      ] as const) {
        const answer = await create({ tenantId, applicationId }, caller)
        expect(answer.error).toBe('application not found')
        expect(answer.data).toBeNull()
        expect(await idsIn({ tenantId, applicationId })).toEqual([])
      }
  })

  test('[tenant2applications.cross-project] the database refuses it too, whichever project the row names', async () => {
    const tenantId = await newTenant(project.id, 'lonely')
    for (const projectId of [project.id, other.id])
      await expect(insertBySql(projectId, tenantId, other.applicationId)).rejects.toMatchObject({
        code: '23503',
      })
    await expect(insertBySql(other.id, tenantId, project.applicationId)).rejects.toMatchObject({
      code: '23503',
    })
    await insertBySql(project.id, tenantId, project.applicationId)
    for (const [column, value] of [
      ['application_id', other.applicationId],
      ['tenant_id', other.tenantId],
      ['project_id', other.id],
    ] as const)
      await expect(
        service.sql.query(`update tenant2applications set ${column} = $1 where tenant_id = $2`, [
          value,
          tenantId,
        ]),
      ).rejects.toMatchObject({ code: '23503' })
    expect(await idsIn({ tenantId, applicationId: project.applicationId })).toHaveLength(1)
  })
})
