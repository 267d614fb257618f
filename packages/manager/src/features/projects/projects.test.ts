import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person

beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

const create = (name: string, slug: string) =>
  service.query(
    admin,
    'mutation($name: String!, $slug: String!) { createProject(input: {name: $name, slug: $slug}) { id name slug createdAt } }',
    { name, slug },
  )

describe('projects', () => {
  test('[projects.create] [projects.by-slug] stores and returns the project and makes the creator its owner', async () => {
    const created = await create('Alpha', 'alpha')
    expect(created.error).toBeNull()
    const { id } = created.data.createProject
    const read = await service.query(
      admin,
      'query($id: ID!) { project(slug: "alpha") { id name } user2projects(project: $id) { role user { id } } }',
      { id },
    )
    expect(read.data).toEqual({
      project: { id, name: 'Alpha' },
      user2projects: [{ role: 'owner', user: { id: admin.id } }],
    })
  })

  test('[projects.by-slug] an unknown slug is an error', async () => {
    const answer = await service.query(admin, '{ project(slug: "nowhere") { id } }')
    expect(answer.error).toBe('project not found')
    expect(answer.data).toBeNull()
  })

  test('[projects.fields] [graphql.timestamps] a project has its fields, the time of creation in RFC 3339', async () => {
    await create('Fields', 'fields')
    const answer = await service.query(
      admin,
      '{ project(slug: "fields") { id name slug createdAt tenants { id } applications { id } } }',
    )
    expect(answer.data.project).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Fields',
      slug: 'fields',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      tenants: [],
      applications: [],
    })
  })

  test('[projects.update] changes the given fields and keeps the others', async () => {
    const { id } = (await create('Before', 'before')).data.createProject
    const renamed = await service.query(
      admin,
      'mutation($id: ID!) { updateProject(id: $id, input: {name: "After"}) { name slug } }',
      { id },
    )
    expect(renamed.data.updateProject).toEqual({ name: 'After', slug: 'before' })
  })

  test('[projects.delete] afterwards id and slug are unknown, and everything in the project is gone', async () => {
    const project = await seedProject(service.sql, 'doomed')
    const removed = await service.query(admin, 'mutation($id: ID!) { deleteProject(id: $id) }', {
      id: project.id,
    })
    expect(removed.data).toEqual({ deleteProject: true })
    const bySlug = await service.query(admin, '{ project(slug: "doomed") { id } }')
    expect(bySlug.error).toBe('project not found')
    const byId = await service.query(admin, 'mutation($id: ID!) { deleteProject(id: $id) }', {
      id: project.id,
    })
    expect(byId.error).toBe('project not found')
    const { rows } = await service.sql.query('select 1 from tenants where project_id = $1', [project.id])
    expect(rows).toEqual([])
  })

  test('[projects.list] lists the projects the caller can read, whatever kind of membership they have', async () => {
    const [member, tenantMember, applicationMember] = await Promise.all(
      ['pm', 'tm', 'am'].map((name) => seedUser(service.sql, name)),
    )
    const project = await seedProject(service.sql, 'visible')
    await seedProject(service.sql, 'invisible')
    await seedMember(service.sql, member as Person, 'readonly', { projectId: project.id })
    await seedMember(service.sql, tenantMember as Person, 'member', {
      projectId: project.id,
      tenantId: project.tenantId,
    })
    await seedMember(service.sql, applicationMember as Person, 'readonly', {
      projectId: project.id,
      applicationId: project.applicationId,
    })
    for (const person of [member, tenantMember, applicationMember]) {
      const answer = await service.query(person as Person, '{ projects { slug } }')
      expect(answer.data.projects).toEqual([{ slug: 'visible' }])
    }
    const all = await service.query(admin, '{ projects { slug } }')
    expect(all.data.projects).toEqual(expect.arrayContaining([{ slug: 'visible' }, { slug: 'invisible' }]))
  })

  test('[projects.name-length] names of 1 and 100 characters pass; empty, blank and 101 are refused', async () => {
    for (const [name, slug, ok] of [
      ['x', 'n1', true],
      ['é'.repeat(100), 'n100', true],
      ['', 'n0', false],
      ['   ', 'nblank', false],
      ['x'.repeat(101), 'n101', false],
      ['a\u0000b', 'nul', false],
    ] as const) {
      const { error } = await create(name, slug)
      expect(error ?? '').toMatch(ok ? /^$/ : /name must/)
    }
  })

  test('[projects.slug-format] a slug that breaks the rule is refused', async () => {
    for (const slug of ['', '-a', 'a-', 'A', 'a_b', 'a.b', 'ä', 'a'.repeat(65), 'a b', 'a\n'])
      expect((await create('x', slug)).error).toContain('slug must be')
    for (const slug of ['a', '0', 'a-b', 'a'.repeat(64), 'a--b'])
      expect((await create('x', slug)).error).toBeNull()
  })

  test('[projects.slug-unique] a slug that another project holds is refused, on create and on update', async () => {
    await create('One', 'taken')
    const second = await create('Two', 'taken')
    expect(second.error).toContain('slug already exists')
    expect(second.errors[0]?.extensions?.code).toBe('conflict')
    const { id } = (await create('Two', 'free')).data.createProject
    const moved = await service.query(
      admin,
      'mutation($id: ID!) { updateProject(id: $id, input: {slug: "taken"}) { id } }',
      { id },
    )
    expect(moved.error).toContain('slug already exists')
  })
})
