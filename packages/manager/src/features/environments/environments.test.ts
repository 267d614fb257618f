import { randomUUID } from 'node:crypto'
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

const createProject = async (slug: string): Promise<string> => {
  const { data } = await service.query(
    admin,
    'mutation($slug: String!) { createProject(input: {name: $slug, slug: $slug}) { id } }',
    { slug },
  )
  return data.createProject.id as string
}

const environment = (caller: Person, id: string, fields = 'id') =>
  service.query(caller, `query($id: ID!) { environment(id: $id) { ${fields} } }`, { id })

const environments = (caller: Person, projectId: string, fields: string) =>
  service.query(caller, `query($projectId: ID!) { environments(projectId: $projectId) { ${fields} } }`, {
    projectId,
  })

describe('environments', () => {
  test('[environments.created-with-project] [environments.defaults] a new project has dev, qas and run, and only run is protected', async () => {
    const projectId = await createProject('fresh')
    const { data } = await environments(admin, projectId, 'name sortOrder protected')
    expect(data.environments).toEqual([
      { name: 'dev', sortOrder: 10, protected: false },
      { name: 'qas', sortOrder: 20, protected: false },
      { name: 'run', sortOrder: 30, protected: true },
    ])
    const { rows } = await service.sql.query(
      'select name from environments where project_id = $1 order by name',
      [projectId],
    )
    expect(rows).toEqual([{ name: 'dev' }, { name: 'qas' }, { name: 'run' }])
  })

  test('[environments.fields] [graphql.timestamps] an environment has its fields and leads to its project', async () => {
    const projectId = await createProject('fields')
    const { data } = await environments(
      admin,
      projectId,
      'id name displayName sortOrder protected createdAt project { id slug }',
    )
    expect(data.environments[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'dev',
      displayName: 'Development',
      sortOrder: 10,
      protected: false,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      project: { id: projectId, slug: 'fields' },
    })
  })

  test('[environments.list] the query and the field of the project return the same three, and none of another project', async () => {
    const projectId = await createProject('listed')
    await createProject('neighbour')
    const direct = await environments(admin, projectId, 'id name project { id }')
    expect(direct.data.environments).toHaveLength(3)
    for (const row of direct.data.environments) expect(row.project.id).toBe(projectId)
    const nested = await service.query(
      admin,
      '{ project(slug: "listed") { environments { id name project { id } } } }',
    )
    expect(nested.data.project.environments).toEqual(direct.data.environments)
  })

  test('[environments.list] the stages come in their order unless another one is asked for', async () => {
    await createProject('ordered')
    const { data } = await service.query(
      admin,
      `{ project(slug: "ordered") {
        environments { name }
        reversed: environments(order: {field: "name", direction: DESC}) { name }
        guarded: environments(filters: {field: "protected", value: "true"}) { name }
      } }`,
    )
    expect(data.project).toEqual({
      environments: [{ name: 'dev' }, { name: 'qas' }, { name: 'run' }],
      reversed: [{ name: 'run' }, { name: 'qas' }, { name: 'dev' }],
      guarded: [{ name: 'run' }],
    })
  })

  test('[environments.list] an unknown project and one out of reach read alike', async () => {
    const outsider = await seedUser(service.sql, 'list-outsider')
    const project = await seedProject(service.sql, 'list-closed')
    for (const projectId of [randomUUID(), 'nothing', project.id]) {
      const answer = await environments(outsider, projectId, 'id')
      expect(answer.error).toBe('project not found')
      expect(answer.data).toBeNull()
    }
  })

  test('[environments.by-id] returns that environment to whoever reads the project', async () => {
    const project = await seedProject(service.sql, 'by-id')
    const reader = await seedUser(service.sql, 'reader')
    await seedMember(service.sql, reader, 'readonly', { projectId: project.id })
    for (const person of [admin, reader]) {
      const { data } = await environment(person, project.environmentId, 'id name project { slug }')
      expect(data.environment).toEqual({ id: project.environmentId, name: 'dev', project: { slug: 'by-id' } })
    }
    const shouted = await environment(admin, project.environmentId.toUpperCase())
    expect(shouted.data.environment.id).toBe(project.environmentId)
  })

  test('[environments.by-id] an unknown id is an error, and so is one out of reach', async () => {
    const project = await seedProject(service.sql, 'closed')
    const outsider = await seedUser(service.sql, 'outsider')
    for (const [person, id] of [
      [admin, randomUUID()],
      [admin, 'dev'],
      [admin, ''],
      [admin, project.id],
      [outsider, project.environmentId],
    ] as const) {
      const answer = await environment(person, id)
      expect(answer.error).toBe('environment not found')
      expect(answer.data).toBeNull()
    }
  })
})
