import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject, seedTenant, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()

type Input = { name?: string; slug?: string; deploymentMode?: string | null }

const create = (input: Input, projectId = project.id) =>
  service.query(
    admin,
    `mutation($projectId: ID!, $input: CreateTenantInput!) {
      createTenant(projectId: $projectId, input: $input) { id name slug deploymentMode project { id } }
    }`,
    { projectId, input },
  )

const update = (id: string, input: Input) =>
  service.query(
    admin,
    `mutation($id: ID!, $input: UpdateTenantInput!) {
      updateTenant(id: $id, input: $input) { id name slug deploymentMode project { id } }
    }`,
    { id, input },
  )

const remove = (id: string) => service.query(admin, 'mutation($id: ID!) { deleteTenant(id: $id) }', { id })

const bySlug = (projectId: string, slug: string, caller = admin) =>
  service.query(
    caller,
    `query($projectId: ID!, $slug: String!) {
      tenant(projectId: $projectId, slug: $slug) { id name slug deploymentMode project { id } }
    }`,
    { projectId, slug },
  )

const slugsOf = async (projectSlug: string, caller = admin) => {
  const { data, error } = await service.query(
    caller,
    'query($projectSlug: String!) { tenants(projectSlug: $projectSlug, order: {field: "slug"}) { slug } }',
    { projectSlug },
  )
  expect(error).toBeNull()
  return (data.tenants as { slug: string }[]).map((tenant) => tenant.slug)
}

describe('tenants', () => {
  test('[tenants.create] [tenants.by-slug] [tenants.fields] stores the tenant in the project and returns it', async () => {
    const created = await create({ name: 'Acme', slug: 'acme', deploymentMode: 'dedicated' })
    expect(created.error).toBeNull()
    const tenant = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Acme',
      slug: 'acme',
      deploymentMode: 'dedicated',
      project: { id: project.id },
    }
    expect(created.data.createTenant).toEqual(tenant)
    const read = await bySlug(project.id, 'acme')
    expect(read.data.tenant).toEqual(created.data.createTenant)
  })

  test('[tenants.create] a project that does not exist takes no tenant', async () => {
    for (const projectId of [randomUUID(), 'main'])
      expect((await create({ name: 'x', slug: 'homeless' }, projectId)).error).toBe('project not found')
    const { rows } = await service.sql.query("select 1 from tenants where slug = 'homeless'")
    expect(rows).toEqual([])
  })

  test('[tenants.fields] [tenants.absent-fields] a tenant has its fields, and neither type nor applications', async () => {
    const { data } = await service.query(admin, '{ type: __type(name: "Tenant") { fields { name } } }')
    const names = (data.type.fields as { name: string }[]).map((field) => field.name)
    expect(names).toEqual(expect.arrayContaining(['id', 'name', 'slug', 'deploymentMode', 'project']))
    expect(names).not.toContain('type')
    expect(names).not.toContain('applications')
    for (const field of ['type', 'applications { id }']) {
      const answer = await service.query(admin, `{ tenants(projectSlug: "main") { ${field} } }`)
      expect(answer.error).toContain('Cannot query field')
    }
  })

  test('[tenants.list] lists the tenants of that project and of no other, also as a field of the project', async () => {
    const listed = await seedProject(service.sql, 'listed')
    await seedTenant(service.sql, listed.id, randomUUID(), 'second')
    expect(await slugsOf('listed')).toEqual(['listed-tenant', 'second'])
    const nested = await service.query(
      admin,
      '{ project(slug: "listed") { tenants(order: {field: "slug"}) { slug } } }',
    )
    expect(nested.data.project.tenants).toEqual([{ slug: 'listed-tenant' }, { slug: 'second' }])
    const unknown = await service.query(admin, '{ tenants(projectSlug: "nowhere") { id } }')
    expect(unknown.error).toBe('project not found')
  })

  test('[tenants.list] [policy.tenant-apps-read] a member of one tenant sees that tenant and not its neighbours', async () => {
    const shared = await seedProject(service.sql, 'houses')
    await seedTenant(service.sql, shared.id, randomUUID(), 'next-door')
    const member = await seedUser(service.sql, 'house-member')
    await seedMember(service.sql, member, 'member', { projectId: shared.id, tenantId: shared.tenantId })
    expect(await slugsOf('houses', member)).toEqual(['houses-tenant'])
    expect((await bySlug(shared.id, 'houses-tenant', member)).error).toBeNull()
    expect((await bySlug(shared.id, 'next-door', member)).error).toBe('tenant not found')
  })

  test('[tenants.by-slug] an unknown pair of project and slug is an error', async () => {
    const other = await seedProject(service.sql, 'other')
    for (const [projectId, slug] of [
      [project.id, 'nowhere'],
      [project.id, other.tenantSlug],
      [other.id, project.tenantSlug],
      [randomUUID(), project.tenantSlug],
      ['main', project.tenantSlug],
      [project.id, ''],
      [project.id, project.tenantSlug.toUpperCase()],
    ] as const) {
      const answer = await bySlug(projectId, slug)
      expect(answer.error).toBe('tenant not found')
      expect(answer.data).toBeNull()
    }
  })

  test('[tenants.update] changes the given fields, keeps the others and returns the tenant', async () => {
    const { id } = (await create({ name: 'Before', slug: 'before' })).data.createTenant
    const whole = { id, project: { id: project.id } }
    const renamed = await update(id, { name: 'After' })
    expect(renamed.data.updateTenant).toEqual({
      ...whole,
      name: 'After',
      slug: 'before',
      deploymentMode: 'shared',
    })
    await update(id, { slug: 'after', deploymentMode: 'dedicated' })
    const kept = await update(id, { deploymentMode: null })
    expect(kept.data.updateTenant).toEqual({
      ...whole,
      name: 'After',
      slug: 'after',
      deploymentMode: 'dedicated',
    })
    expect((await bySlug(project.id, 'after')).data.tenant).toEqual(kept.data.updateTenant)
    expect((await bySlug(project.id, 'before')).error).toBe('tenant not found')
    expect((await update(randomUUID(), { name: 'x' })).error).toBe('tenant not found')
  })

  test('[tenants.delete] afterwards the id is unknown and its memberships and rows are gone', async () => {
    const doomed = await seedProject(service.sql, 'doomed')
    const member = await seedUser(service.sql, 'doomed-member')
    await seedMember(service.sql, member, 'owner', { projectId: doomed.id, tenantId: doomed.tenantId })
    expect((await remove(doomed.tenantId)).data).toEqual({ deleteTenant: true })
    expect((await remove(doomed.tenantId)).error).toBe('tenant not found')
    expect((await update(doomed.tenantId, { name: 'x' })).error).toBe('tenant not found')
    expect((await bySlug(doomed.id, doomed.tenantSlug)).error).toBe('tenant not found')
    expect(await slugsOf('doomed')).toEqual([])
    for (const table of ['user2tenants', 'tenant_role_definitions', 'tenant2applications']) {
      const { rows } = await service.sql.query(`select 1 from ${table} where tenant_id = $1`, [
        doomed.tenantId,
      ])
      expect(rows).toEqual([])
    }
    const { rows } = await service.sql.query('select 1 from applications where project_id = $1', [doomed.id])
    expect(rows).toHaveLength(1)
  })

  test('[tenants.slug-unique] a slug taken in the project is refused, on create and on update', async () => {
    expect((await create({ name: 'One', slug: 'taken' })).error).toBeNull()
    const second = await create({ name: 'Two', slug: 'taken' })
    expect(second.error).toBe('the project already has a tenant with this slug')
    expect(second.errors[0]?.extensions?.code).toBe('conflict')
    const { id } = (await create({ name: 'Two', slug: 'free' })).data.createTenant
    expect((await update(id, { slug: 'taken' })).errors[0]?.extensions?.code).toBe('conflict')
    expect((await update(id, { slug: 'free' })).error).toBeNull()
  })

  test('[tenants.slug-unique] the same slug in another project passes', async () => {
    const other = await seedProject(service.sql, 'twin')
    const [first, second] = [
      await create({ name: 'One', slug: 'same' }),
      await create({ name: 'Two', slug: 'same' }, other.id),
    ]
    expect([first.error, second.error]).toEqual([null, null])
    expect((await bySlug(other.id, 'same')).data.tenant.name).toBe('Two')
    expect((await bySlug(project.id, 'same')).data.tenant.name).toBe('One')
  })

  test('[tenants.deployment-mode] is shared unless given, shared or dedicated, and nothing else', async () => {
    expect((await create({ name: 'x', slug: 'm1' })).data.createTenant.deploymentMode).toBe('shared')
    const nulled = await create({ name: 'x', slug: 'm2', deploymentMode: null })
    expect(nulled.data.createTenant.deploymentMode).toBe('shared')
    const { id } = nulled.data.createTenant
    for (const deploymentMode of ['dedicated', 'shared'])
      expect((await update(id, { deploymentMode })).data.updateTenant.deploymentMode).toBe(deploymentMode)
    for (const deploymentMode of ['', 'Shared', 'DEDICATED', 'shared ', 'private']) {
      const refusal = 'deploymentMode must be one of shared, dedicated'
      expect((await create({ name: 'x', slug: 'm3', deploymentMode })).error).toBe(refusal)
      expect((await update(id, { deploymentMode })).error).toBe(refusal)
    }
    expect((await bySlug(project.id, 'm2')).data.tenant.deploymentMode).toBe('shared')
    expect((await bySlug(project.id, 'm3')).error).toBe('tenant not found')
  })

  test('[projects.name-length] tenant names of 1 and 100 characters pass; empty and 101 are refused', async () => {
    const { id } = (await create({ name: 'x', slug: 'n1' })).data.createTenant
    expect((await create({ name: 'é'.repeat(100), slug: 'n100' })).error).toBeNull()
    for (const name of ['', '  ', 'x'.repeat(101)]) {
      expect((await create({ name, slug: 'n0' })).error).toContain('name must')
      expect((await update(id, { name })).error).toContain('name must')
    }
  })

  test('[projects.slug-format] a tenant slug that breaks the rule is refused, on create and on update', async () => {
    const { id } = (await create({ name: 'x', slug: 'a'.repeat(64) })).data.createTenant
    for (const slug of ['', '-a', 'a-', 'A', 'a_b', 'a.b', 'ä', 'a'.repeat(65), 'a b', 'a\n']) {
      expect((await create({ name: 'x', slug })).error).toContain('slug must be')
      expect((await update(id, { slug })).error).toContain('slug must be')
    }
    for (const slug of ['a', '0', 'a-b', 'a--b']) expect((await update(id, { slug })).error).toBeNull()
  })
})
