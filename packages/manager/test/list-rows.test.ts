import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type ListKit, createListKit } from './kit/lists.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

const manyTenants = 130
const nestedProjects = 40

let kit: ListKit
beforeAll(async () => {
  kit = await createListKit()
})
afterAll(() => kit.service.close())

describe('filters', () => {
  test('[lists.exact-match] ids, enums, booleans and slugs match the whole value only', async () => {
    await kit.seedTenants('exact', [{ slug: 'acme' }, { slug: 'acme-two', mode: 'dedicated' }])
    const by = (field: string, value: string) => kit.tenantsOf('exact', { filters: { field, value } })
    expect(await by('slug', 'acme')).toEqual(['acme'])
    for (const value of ['acm', 'ACME', 'acme-', '%', 'acme%', 'acme_two', ''])
      expect(await by('slug', value)).toEqual([])
    expect(await by('deploymentMode', 'dedicated')).toEqual(['acme-two'])
    for (const value of ['dedicate', 'Dedicated', 'd%', ''])
      expect(await by('deploymentMode', value)).toEqual([])
    const [id = ''] = await kit.tenantsOf('exact', { filters: { field: 'slug', value: 'acme' } }, 'id')
    expect(await by('id', id)).toEqual(['acme'])
    expect(await by('id', id.toUpperCase())).toEqual(['acme'])
    for (const value of [id.slice(0, 35), `${id}0`, '%', ''])
      expect((await kit.ask('tenants', { filters: { field: 'id', value } })).error).toBe(
        'filter id must be a UUID',
      )
  })

  test('[lists.exact-match] a boolean is true or false, a number whole, a role whole', async () => {
    const environments = async (field: string, value: string) => {
      const { data, error } = await kit.service.query(
        kit.admin,
        `query($id: ID!, $filters: [Filter!]) { environments(projectId: $id, filters: $filters) { name } }`,
        { id: kit.main.id, filters: { field, value } },
      )
      return error ?? (data.environments as { name: string }[]).map(({ name }) => name)
    }
    expect(await environments('protected', 'true')).toEqual(['run'])
    expect(await environments('protected', 'false')).toEqual(['dev', 'qas'])
    for (const value of ['t', 'TRUE', '1', 'yes', ''])
      expect(await environments('protected', value)).toBe('filter protected must be true or false')
    expect(await environments('sortOrder', '20')).toEqual(['qas'])
    expect(await environments('sortOrder', '2')).toEqual([])
    for (const value of ['', '2.0', '1e1', ' 20', '9'.repeat(10)])
      expect(await environments('sortOrder', value)).toBe('filter sortOrder must be a whole number')
    for (const [value, found] of [
      ['owner', 1],
      ['own', 0],
      ['OWNER', 0],
    ] as const)
      expect((await kit.ask('user2projects', { filters: { field: 'role', value } })).data.rows).toHaveLength(
        found,
      )
  })

  test('[lists.text-match] texts match as a part, whatever the case, and wildcards stand for themselves', async () => {
    const names = [
      'Alpha 100%',
      'alpha 1000',
      'under_score',
      'underXscore',
      'back\\slash',
      'backslash',
      "O'Hara",
      'ÄPFEL',
    ]
    await kit.seedTenants(
      'texts',
      names.map((name, index) => ({ slug: `t${index}`, name })),
    )
    for (const [value, found] of [
      ['ALPHA', ['Alpha 100%', 'alpha 1000']],
      ['pha 1', ['Alpha 100%', 'alpha 1000']],
      ['100%', ['Alpha 100%']],
      ['%', ['Alpha 100%']],
      ['_', ['under_score']],
      ['R_S', ['under_score']],
      ['\\', ['back\\slash']],
      ['\\s', ['back\\slash']],
      ['BACKSLASH', ['backslash']],
      ['äpfel', ['ÄPFEL']],
      ['a%a', []],
      ['\\%', []],
      ['\\_', []],
      ["o'", ["O'Hara"]],
      ['', names],
    ] as const) {
      const order = { field: 'slug', direction: 'ASC' }
      expect(await kit.tenantsOf('texts', { filters: { field: 'name', value }, order }, 'name')).toEqual(
        found,
      )
    }
  })

  test('[lists.filters-anded] several filters must all hold, also several on one field', async () => {
    await kit.seedTenants('anded', [
      { slug: 'red-big', name: 'big red', mode: 'dedicated' },
      { slug: 'red', name: 'red', mode: 'dedicated' },
      { slug: 'big', name: 'big' },
      { slug: 'red-big-2', name: 'red big' },
    ])
    const order = { field: 'slug', direction: 'ASC' }
    const [red, big] = [
      { field: 'name', value: 'red' },
      { field: 'name', value: 'big' },
    ]
    const dedicated = { field: 'deploymentMode', value: 'dedicated' }
    expect(await kit.tenantsOf('anded', { filters: [red, big], order })).toEqual(['red-big', 'red-big-2'])
    expect(await kit.tenantsOf('anded', { filters: [red, dedicated], order })).toEqual(['red', 'red-big'])
    expect(await kit.tenantsOf('anded', { filters: [red, big, dedicated], order })).toEqual(['red-big'])
    const shared = { field: 'deploymentMode', value: 'shared' }
    expect(await kit.tenantsOf('anded', { filters: [dedicated, shared], order })).toEqual([])
    expect(await kit.tenantsOf('anded', { filters: [], order })).toHaveLength(4)
  })

  test('[graphql.timestamps] a filter on a time matches the instant, in whatever zone it is written', async () => {
    await kit.service.sql.query("update projects set created_at = '2024-05-06T07:08:09.123Z' where id = $1", [
      kit.main.id,
    ])
    const at = async (value: string) =>
      (await kit.ask('projects', { filters: { field: 'createdAt', value } })).data.rows
    expect(await at('2024-05-06T07:08:09.123Z')).toEqual([{ id: kit.main.id }])
    expect(await at('2024-05-06T09:08:09.123+02:00')).toEqual([{ id: kit.main.id }])
    expect(await at('2024-05-06T07:08:09.124Z')).toEqual([])
  })

  test('[graphql.timestamps] a filter on a time in another form than RFC 3339 is refused', async () => {
    const accepted: string[] = []
    for (const value of [
      '',
      'yesterday',
      '2024',
      '2024-05-06',
      '2024-05-06 07:08:09Z',
      '1714979289',
      '2024-13-06T07:08:09Z',
      '2024-05-06T25:08:09Z',
      '2024-05-06T07:08:09Z (noon)',
      '2024-05-06T07:08:09',
      '2024-05-06T07:08',
      '2024-05-06T07:08:09+0200',
      '2024-02-30T07:08:09Z',
    ]) {
      const answer = await kit.ask('projects', { filters: { field: 'createdAt', value } })
      if (answer.error?.startsWith('filter createdAt must be an RFC 3339 timestamp') !== true)
        accepted.push(value)
    }
    expect(accepted).toEqual([])
  })

  test('[graphql.timestamps] a time at either end of the calendar is no failure of the service', async () => {
    const failed: string[] = []
    for (const value of [
      '0001-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
      '0000-01-01T00:00:00Z',
      '0001-01-01T00:00:00+14:00',
      '9999-12-31T23:59:59-12:00',
    ]) {
      const { status, error } = await kit.ask('projects', { filters: { field: 'createdAt', value } })
      if (status >= 500) failed.push(`${value}: ${error}`)
    }
    expect(failed).toEqual([])
  })
})

describe('order and pages', () => {
  test('[lists.order] sorts by the fields in the given sequence, each ASC or DESC', async () => {
    await kit.seedTenants('sorted', [
      { slug: 's1', name: 'b', mode: 'shared' },
      { slug: 's2', name: 'a', mode: 'shared' },
      { slug: 's3', name: 'b', mode: 'dedicated' },
      { slug: 's4', name: 'a', mode: 'dedicated' },
      { slug: 's5', name: 'a', mode: 'dedicated' },
    ])
    const by = (...order: [string, string][]) =>
      kit.tenantsOf('sorted', { order: order.map(([field, direction]) => ({ field, direction })) })
    expect(await by(['name', 'ASC'], ['slug', 'ASC'])).toEqual(['s2', 's4', 's5', 's1', 's3'])
    expect(await by(['name', 'ASC'], ['slug', 'DESC'])).toEqual(['s5', 's4', 's2', 's3', 's1'])
    expect(await by(['name', 'DESC'], ['slug', 'ASC'])).toEqual(['s1', 's3', 's2', 's4', 's5'])
    const three = ['deploymentMode', 'name', 'slug'] as const
    expect(await by([three[0], 'DESC'], [three[1], 'ASC'], [three[2], 'ASC'])).toEqual([
      's2',
      's1',
      's4',
      's5',
      's3',
    ])
    expect(await by([three[1], 'ASC'], [three[0], 'DESC'], [three[2], 'ASC'])).toEqual([
      's2',
      's4',
      's5',
      's1',
      's3',
    ])
  })

  test('[lists.order-ties] equal rows come sorted by id, and pages taken by offset neither overlap nor skip', async () => {
    const slugs = Array.from({ length: manyTenants }, (_, index) => ({ slug: `t${index}`, name: 'same' }))
    await kit.seedTenants('ties', slugs)
    const { rows } = await kit.service.sql.query<{ id: string }>(
      "select t.id from tenants t join projects p on p.id = t.project_id where p.slug = 'ties'",
    )
    const ids = rows.map(({ id }) => id).toSorted()
    expect(ids).toHaveLength(manyTenants)
    for (const order of [
      [],
      [{ field: 'name', direction: 'ASC' }],
      [{ field: 'name', direction: 'DESC' }],
      [
        { field: 'deploymentMode', direction: 'DESC' },
        { field: 'name', direction: 'ASC' },
      ],
    ]) {
      const pages: string[] = []
      for (let offset = 0; offset < manyTenants + 20; offset += 20)
        pages.push(...(await kit.tenantsOf('ties', { order, pagination: { limit: 20, offset } }, 'id')))
      expect(pages).toEqual(ids)
    }
  })

  test('[lists.default-page] without pagination a list answers its first 100 rows', async () => {
    const slugs = Array.from({ length: manyTenants }, (_, index) => ({ slug: `t${index}` }))
    await kit.seedTenants('default', slugs)
    const whole = await kit.tenantsOf('default', {})
    expect(whole).toHaveLength(100)
    expect(await kit.tenantsOf('default', { pagination: { limit: 100, offset: 0 } })).toEqual(whole)
    expect(await kit.tenantsOf('default', { pagination: { limit: 100, offset: 100 } })).toHaveLength(
      manyTenants - 100,
    )
    const nested = await kit.service.query(kit.admin, '{ project(slug: "default") { tenants { slug } } }')
    expect(nested.data.project.tenants).toEqual(whole.map((slug) => ({ slug })))
  })
})

describe('lists inside lists', () => {
  const nested = `query($filters: [Filter!]) {
    projects(filters: $filters) { slug tenants { id } applications { id } environments { id } }
  }`
  const run = async (person: Person, value: string) => {
    kit.service.statements.length = 0
    const { data, error } = await kit.service.query(person, nested, { filters: { field: 'name', value } })
    expect(error).toBeNull()
    return { projects: data.projects as Record<string, unknown[]>[], statements: [...kit.service.statements] }
  }

  test('nested lists cost one SQL statement per level, whatever the number of projects', async () => {
    const member = await seedUser(kit.service.sql, 'member-of-many')
    for (let index = 0; index < nestedProjects; index++) {
      const { id } = await seedProject(kit.service.sql, `nested-${index}`)
      await seedMember(kit.service.sql, member, 'readonly', { projectId: id })
    }
    for (const person of [kit.admin, member]) {
      const one = await run(person, 'nested-39')
      const many = await run(person, 'nested-')
      expect(one.projects).toHaveLength(1)
      expect(many.projects).toHaveLength(nestedProjects)
      for (const { tenants, applications, environments } of many.projects)
        expect([tenants?.length, applications?.length, environments?.length]).toEqual([1, 1, 3])
      expect(many.statements).toHaveLength(one.statements.length)
      for (const table of ['tenants', 'applications', 'environments'])
        for (const { statements } of [one, many])
          expect(statements.filter((text) => text.includes(`from "${table}"`))).toHaveLength(1)
    }
  })
})
