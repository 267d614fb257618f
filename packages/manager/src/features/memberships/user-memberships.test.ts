// Tests the memberships of a user, and the filters that select members by fields of the user.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })

type Memberships = { projects: object[]; tenants: object[]; applications: object[] }
const selection = `projects: projectMemberships { role user { id } project { id } }
  tenants: tenantMemberships { roleName user { id } tenant { id } }
  applications: applicationMemberships { role user { id } application { id } }`

/** Returns the memberships of a user as the caller sees them. */
async function membershipsOf(caller: Person, of: Person): Promise<Memberships> {
  const { data, error } = await service.query(
    caller,
    `query($filters: [Filter!]) { users(filters: $filters) { ${selection} } }`,
    { filters: { field: 'id', value: of.id } },
  )
  expect(error).toBeNull()
  return data.users[0] as Memberships
}

const [inProject, inOther] = [{ projectId: '' }, { projectId: '' }]
const [ofTenant, ofApplication] = [
  { projectId: '', tenantId: '' },
  { projectId: '', applicationId: '' },
]
let subject: Person
let everything: Memberships
beforeAll(async () => {
  inProject.projectId = project.id
  inOther.projectId = other.id
  Object.assign(ofTenant, { projectId: other.id, tenantId: other.tenantId })
  Object.assign(ofApplication, { projectId: other.id, applicationId: other.applicationId })
  subject = await person('subject')
  await seedMember(service.sql, subject, 'tester', inProject)
  await seedMember(service.sql, subject, 'member', ofTenant)
  await seedMember(service.sql, subject, 'normal', ofApplication)
  const user = { id: subject.id }
  everything = {
    projects: [{ role: 'tester', user, project: { id: project.id } }],
    tenants: [{ roleName: 'member', user, tenant: { id: other.tenantId } }],
    applications: [{ role: 'normal', user, application: { id: other.applicationId } }],
  }
})

describe('the memberships of a user', () => {
  test('are all shown to the user and to administrators, also without the right to list the members', async () => {
    expect(await membershipsOf(subject, subject)).toEqual(everything)
    expect(await membershipsOf(admin, subject)).toEqual(everything)
    const { data, error } = await service.query(subject, `{ me { ${selection} } }`)
    expect(error).toBeNull()
    expect(data.me).toEqual(everything)
  })

  test('are shown to others only in projects and tenants whose members they may read', async () => {
    const colleague = await member('colleague', 'readonly')
    expect(await membershipsOf(colleague, subject)).toEqual({ ...everything, tenants: [], applications: [] })
    const both = await member('both', 'readonly')
    await seedMember(service.sql, both, 'readonly', inOther)
    expect(await membershipsOf(both, subject)).toEqual(everything)
    const manager = await member('tenant-manager', 'readonly')
    await seedMember(service.sql, manager, 'admin', ofTenant)
    expect(await membershipsOf(manager, subject)).toEqual({ ...everything, applications: [] })
    const neighbor = await member('tenant-neighbor', 'readonly')
    await seedMember(service.sql, neighbor, 'member', ofTenant)
    await seedMember(service.sql, neighbor, 'normal', ofApplication)
    expect(await membershipsOf(neighbor, subject)).toEqual({ ...everything, tenants: [], applications: [] })
  })

  test('lead to a tenant only for callers who may read the tenant', async () => {
    const { id: projectId, tenantId } = project
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       values (gen_random_uuid(), $1, $2, 'host', '{members}')`,
      [projectId, tenantId],
    )
    const host = await person('host')
    await seedMember(service.sql, host, 'host', { projectId, tenantId })
    const read = (selected: string) =>
      service.query(host, `{ rows: user2tenants(tenant: "${tenantId}") { ${selected} } }`)
    expect((await read('roleName user { id }')).data.rows).toEqual([
      { roleName: 'host', user: { id: host.id } },
    ])
    const own = '{ me { tenantMemberships { tenant { name } } } }'
    for (const answer of [await read('tenant { name }'), await service.query(host, own)])
      expect([answer.error, answer.data]).toEqual(['tenant not found', null])
    expect((await service.query(host, `{ tenantById(id: "${tenantId}") { name } }`)).error).toBe(
      'tenant not found',
    )
  })

  test('accept filters, order and pages, and are read with one statement for all users', async () => {
    const reader = await person('reader')
    for (let index = 0; index < 12; index++) {
      const { id } = await seedProject(service.sql, `many-${index}`)
      await seedMember(service.sql, reader, index % 2 === 0 ? 'owner' : 'tester', { projectId: id })
    }
    const rows = async (args: string): Promise<unknown[]> => {
      const { data, error } = await service.query(
        reader,
        `{ me { rows: projectMemberships(${args}) { role } } }`,
      )
      expect(error).toBeNull()
      return data.me.rows as unknown[]
    }
    expect(await rows('filters: {field: "role", value: "owner"}')).toHaveLength(6)
    expect(await rows('pagination: {limit: 10, offset: 10}')).toHaveLength(2)
    expect(await rows('order: {field: "role"}, pagination: {limit: 1, offset: 0}')).toEqual([
      { role: 'owner' },
    ])
    expect(await rows(`filters: {field: "projectId", value: "${randomUUID()}"}`)).toEqual([])
    service.statements.length = 0
    const { data } = await service.query(admin, `{ users { id ${selection} } }`)
    expect(data.users.length).toBeGreaterThan(5)
    for (const table of ['user2projects', 'user2tenants', 'user2applications'])
      expect([table, service.statements.filter((text) => text.includes(`from "${table}"`)).length]).toEqual([
        table,
        1,
      ])
  })
})

describe('members', () => {
  test('are filtered and ordered by name, user name and e-mail of their user', async () => {
    const scene = await seedProject(service.sql, 'filtered')
    const scopes = {
      Project: { projectId: scene.id },
      Tenant: { projectId: scene.id, tenantId: scene.tenantId },
      Application: { projectId: scene.id, applicationId: scene.applicationId },
    }
    const people = await Promise.all(
      ['Ada Bell', 'Bea_100%', 'Cem'].map((name) => seedUser(service.sql, name)),
    )
    await service.sql.query(
      `update users set external_username = 'u-' || upper(external_username) where id = any($1)`,
      [people.map(({ id }) => id)],
    )
    for (const [kind, of] of Object.entries(scopes)) {
      const role = kind === 'Tenant' ? 'member' : 'readonly'
      for (const one of people) await seedMember(service.sql, one, role, of)
      const entity = kind.toLowerCase()
      const id = { project: scene.id, tenant: scene.tenantId, application: scene.applicationId }[entity]
      const namesBy = async (args: object): Promise<string[]> => {
        const { data, error } = await service.query(
          admin,
          `query($id: ID!, $filters: [Filter!], $order: [Order!]) {
            rows: user2${entity}s(${entity}: $id, filters: $filters, order: $order) { user { externalName } } }`,
          { id, ...args },
        )
        expect(error).toBeNull()
        return data.rows.map((row: { user: { externalName: string } }) => row.user.externalName)
      }
      for (const [field, value, found] of [
        ['userName', 'ADA', ['Ada Bell']],
        ['userName', '_100%', ['Bea_100%']],
        ['userName', '%', ['Bea_100%']],
        ['username', 'u-cem@', ['Cem']],
        ['userEmail', 'u-cem', []],
        ['userEmail', 'bell@EXAMPLE.com', ['Ada Bell']],
        ['userEmail', 'subject', []],
      ] as const)
        expect([kind, field, value, await namesBy({ filters: { field, value } })]).toEqual([
          kind,
          field,
          value,
          found,
        ])
      const order = { field: 'userEmail', direction: 'DESC' }
      expect(await namesBy({ order })).toEqual(['Cem', 'Bea_100%', 'Ada Bell'])
      const two = [
        { field: 'userName', value: 'e' },
        { field: 'userEmail', value: 'bell' },
      ]
      expect(await namesBy({ filters: two })).toEqual(['Ada Bell'])
    }
  })

  test('of other projects are not reached by these filters', async () => {
    const spy = await person('spy')
    const answer = await service.query(
      spy,
      `{ user2projects(project: "${project.id}", filters: {field: "userEmail", value: "subject"}) { id } }`,
    )
    expect(answer.error).toBe('project not found')
  })
})
