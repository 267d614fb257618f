import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()

type Input = { name?: string; slug?: string; description?: string | null }

const create = (input: Input, projectId = project.id) =>
  service.query(
    admin,
    `mutation($projectId: ID!, $input: CreateApplicationInput!) {
      createApplication(projectId: $projectId, input: $input) { id name slug description }
    }`,
    { projectId, input },
  )

const update = (id: string, input: Input) =>
  service.query(
    admin,
    `mutation($id: ID!, $input: UpdateApplicationInput!) {
      updateApplication(id: $id, input: $input) { id name slug description }
    }`,
    { id, input },
  )

const remove = (id: string) =>
  service.query(admin, 'mutation($id: ID!) { deleteApplication(id: $id) }', { id })

const bySlug = (projectId: string, slug: string, caller = admin) =>
  service.query(
    caller,
    `query($projectId: ID!, $slug: String!) {
      application(projectId: $projectId, slug: $slug) { id name slug description }
    }`,
    { projectId, slug },
  )

const slugsOf = async (projectSlug: string, caller = admin) => {
  const { data, error } = await service.query(
    caller,
    'query($slug: String!) { applications(projectSlug: $slug, order: {field: "slug"}) { slug } }',
    { slug: projectSlug },
  )
  expect(error).toBeNull()
  return (data.applications as { slug: string }[]).map((application) => application.slug)
}

describe('applications', () => {
  test('[applications.create] [applications.by-slug] stores the application in that project', async () => {
    const created = await create({ name: 'Shop', slug: 'shop', description: 'Sells\nthings' })
    expect(created.error).toBeNull()
    expect(created.data.createApplication).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Shop',
      slug: 'shop',
      description: 'Sells\nthings',
    })
    expect((await bySlug(project.id, 'shop')).data.application).toEqual(created.data.createApplication)
    expect(await slugsOf('main')).toContain('shop')
  })

  test('[applications.create] a project that does not exist takes no application', async () => {
    for (const projectId of [randomUUID(), 'main'])
      expect((await create({ name: 'x', slug: 'homeless' }, projectId)).error).toBe('project not found')
    const { rows } = await service.sql.query("select 1 from applications where slug = 'homeless'")
    expect(rows).toEqual([])
  })

  test('[applications.fields] an application has its fields; without a description it is empty', async () => {
    const { data } = await service.query(admin, '{ type: __type(name: "Application") { fields { name } } }')
    const names = (data.type.fields as { name: string }[]).map((field) => field.name)
    expect(names).toEqual(expect.arrayContaining(['id', 'name', 'slug', 'description']))
    await create({ name: 'Bare', slug: 'bare' })
    await create({ name: 'Null', slug: 'null', description: null })
    for (const slug of ['bare', 'null'])
      expect((await bySlug(project.id, slug)).data.application.description).toBe('')
  })

  test('[applications.list] lists the applications of that project and of no other, also as its field', async () => {
    const listed = await seedProject(service.sql, 'listed')
    await create({ name: 'Second', slug: 'second' }, listed.id)
    expect(await slugsOf('listed')).toEqual(['listed-app', 'second'])
    const nested = await service.query(
      admin,
      '{ project(slug: "listed") { applications(order: {field: "slug"}) { slug } } }',
    )
    expect(nested.data.project.applications).toEqual([{ slug: 'listed-app' }, { slug: 'second' }])
    const unknown = await service.query(admin, '{ applications(projectSlug: "nowhere") { id } }')
    expect(unknown.error).toBe('project not found')
  })

  test('[applications.list] a member of one application sees that one and not its neighbours', async () => {
    const shared = await seedProject(service.sql, 'offices')
    await create({ name: 'Next', slug: 'next-door' }, shared.id)
    const member = await seedUser(service.sql, 'office-member')
    await seedMember(service.sql, member, 'readonly', {
      projectId: shared.id,
      applicationId: shared.applicationId,
    })
    expect(await slugsOf('offices', member)).toEqual(['offices-app'])
    expect((await bySlug(shared.id, 'offices-app', member)).error).toBeNull()
    expect((await bySlug(shared.id, 'next-door', member)).error).toBe('application not found')
  })

  test('[applications.by-slug] an unknown pair of project and slug is an error', async () => {
    const other = await seedProject(service.sql, 'other')
    for (const [projectId, slug] of [
      [project.id, 'nowhere'],
      [project.id, other.applicationSlug],
      [other.id, project.applicationSlug],
      [randomUUID(), project.applicationSlug],
      ['main', project.applicationSlug],
      [project.id, ''],
      [project.id, project.applicationSlug.toUpperCase()],
    ] as const) {
      const answer = await bySlug(projectId, slug)
      expect(answer.error).toBe('application not found')
      expect(answer.data).toBeNull()
    }
  })

  test('[applications.update] changes the given fields, keeps the others and returns the application', async () => {
    const { id } = (await create({ name: 'Before', slug: 'before', description: 'old' })).data
      .createApplication
    const renamed = await update(id, { name: 'After' })
    expect(renamed.data.updateApplication).toEqual({ id, name: 'After', slug: 'before', description: 'old' })
    await update(id, { slug: 'after', description: 'new' })
    const kept = await update(id, { description: null })
    expect(kept.data.updateApplication).toEqual({ id, name: 'After', slug: 'after', description: 'new' })
    const emptied = await update(id, { description: '' })
    expect((await bySlug(project.id, 'after')).data.application).toEqual(emptied.data.updateApplication)
    expect(emptied.data.updateApplication.description).toBe('')
    expect((await bySlug(project.id, 'before')).error).toBe('application not found')
    expect((await update(randomUUID(), { name: 'x' })).error).toBe('application not found')
  })

  test('[applications.update] a description of 2000 characters passes, a longer one is refused', async () => {
    const { id } = (await create({ name: 'Long', slug: 'long' })).data.createApplication
    expect((await update(id, { description: 'ö'.repeat(2_000) })).error).toBeNull()
    const refused = await update(id, { description: 'ö'.repeat(2_001) })
    expect(refused.error).toBe('description must have at most 2000 characters')
  })

  test('[applications.delete] afterwards the id is unknown and its memberships and rows are gone', async () => {
    const doomed = await seedProject(service.sql, 'doomed')
    const member = await seedUser(service.sql, 'doomed-member')
    const { id: projectId, applicationId } = doomed
    await seedMember(service.sql, member, 'normal', { projectId, applicationId })
    expect((await remove(applicationId)).data).toEqual({ deleteApplication: true })
    expect((await remove(applicationId)).error).toBe('application not found')
    expect((await update(applicationId, { name: 'x' })).error).toBe('application not found')
    expect((await bySlug(projectId, doomed.applicationSlug)).error).toBe('application not found')
    expect(await slugsOf('doomed')).toEqual([])
    for (const table of ['user2applications', 'tenant2applications']) {
      const { rows } = await service.sql.query(`select 1 from ${table} where application_id = $1`, [
        applicationId,
      ])
      expect(rows).toEqual([])
    }
    const { rows } = await service.sql.query('select 1 from tenants where project_id = $1', [projectId])
    expect(rows).toHaveLength(1)
  })

  test('[applications.slug-unique] a slug taken in the project is refused, on create and on update', async () => {
    expect((await create({ name: 'One', slug: 'taken' })).error).toBeNull()
    const second = await create({ name: 'Two', slug: 'taken' })
    expect(second.error).toBe('the project already has an application with this slug')
    expect(second.errors[0]?.extensions?.code).toBe('conflict')
    const { id } = (await create({ name: 'Two', slug: 'free' })).data.createApplication
    expect((await update(id, { slug: 'taken' })).errors[0]?.extensions?.code).toBe('conflict')
    expect((await update(id, { slug: 'free' })).error).toBeNull()
  })

  test('[applications.slug-unique] the same slug in another project passes, and so does the slug of a tenant', async () => {
    const other = await seedProject(service.sql, 'twin')
    const [first, second] = [
      await create({ name: 'One', slug: 'same' }),
      await create({ name: 'Two', slug: 'same' }, other.id),
    ]
    expect([first.error, second.error]).toEqual([null, null])
    expect((await bySlug(other.id, 'same')).data.application.name).toBe('Two')
    expect((await bySlug(project.id, 'same')).data.application.name).toBe('One')
    expect((await create({ name: 'Three', slug: project.tenantSlug })).error).toBeNull()
  })

  test('[projects.name-length] application names of 1 and 100 characters pass; empty and 101 are refused', async () => {
    const { id } = (await create({ name: 'x', slug: 'n1' })).data.createApplication
    expect((await create({ name: 'é'.repeat(100), slug: 'n100' })).error).toBeNull()
    for (const name of ['', '  ', 'x'.repeat(101)]) {
      expect((await create({ name, slug: 'n0' })).error).toContain('name must')
      expect((await update(id, { name })).error).toContain('name must')
    }
  })

  test('[projects.slug-format] an application slug that breaks the rule is refused, on create and on update', async () => {
    const { id } = (await create({ name: 'x', slug: 'a'.repeat(64) })).data.createApplication
    for (const slug of ['', '-a', 'a-', 'A', 'a_b', 'a.b', 'ä', 'a'.repeat(65), 'a b', 'a\n']) {
      expect((await create({ name: 'x', slug })).error).toContain('slug must be')
      expect((await update(id, { slug })).error).toContain('slug must be')
    }
    for (const slug of ['a', '0', 'a-b', 'a--b']) expect((await update(id, { slug })).error).toBeNull()
  })

  test('[applications.deprecated] promoteApplication and copyApplication are there, marked deprecated, and always err', async () => {
    const hidden = await service.query(admin, '{ type: __type(name: "Mutation") { fields { name } } }')
    const shown = await service.query(
      admin,
      '{ type: __type(name: "Mutation") { fields(includeDeprecated: true) { name isDeprecated deprecationReason } } }',
    )
    const nobody = await seedUser(service.sql, 'nobody')
    const statesBefore = await service.sql.query('select id, updated_at from applications order by id')
    for (const name of ['promoteApplication', 'copyApplication']) {
      expect(hidden.data.type.fields).not.toContainEqual({ name })
      expect(shown.data.type.fields).toContainEqual({
        name,
        isDeprecated: true,
        deprecationReason: expect.stringContaining('Always returns an error'),
      })
      for (const person of [admin, nobody]) {
        const answer = await service.query(person, `mutation { ${name} }`)
        expect(answer.error).toContain(`${name} is deprecated`)
        expect(answer.data).toBeNull()
      }
    }
    const statesAfter = await service.sql.query('select id, updated_at from applications order by id')
    expect(statesAfter.rows).toEqual(statesBefore.rows)
  })
})
