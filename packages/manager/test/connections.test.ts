// Tests the connections that the schema derives from its lists: every list has a connection, and paging through it
// by cursor returns the rows of the list in the same order.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListKit, createListKit } from './kit/lists.ts'
import { seedAccessToken, seedProject, seedUser } from '@manager/harness/seed.ts'

type Connection = {
  nodes: Record<string, unknown>[]
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
  totalCount: number
  isTotalExact: boolean
}
type Args = Record<string, unknown>

const selection = (fields: string): string =>
  `{ nodes { ${fields} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount isTotalExact }`
const signature = '$filters: [Filter!], $order: [Order!], $pagination: Pagination, $after: String'
const paging = 'filters: $filters, order: $order, pagination: $pagination, after: $after'

let kit: ListKit
beforeAll(async () => {
  kit = await createListKit()
})
afterAll(() => kit.service.close())

const queryTenants = (slug: string, args: Args, fields = 'slug') =>
  kit.service.query(
    kit.admin,
    `query(${signature}) { page: tenantsConnection(projectSlug: "${slug}", ${paging}) ${selection(fields)} }`,
    args,
  )

/** Pages through a connection with this page size and returns all rows. */
async function walk(
  query: (args: Args) => ReturnType<typeof queryTenants>,
  limit: number,
): Promise<unknown[]> {
  const rows: unknown[] = []
  let after: string | null = null
  for (let page = 0; page < 100; page++) {
    const answer = await query({ pagination: { limit, offset: 0 }, after })
    expect(answer.error).toBeNull()
    const { nodes, pageInfo } = answer.data.page as Connection
    rows.push(...nodes)
    expect(pageInfo.hasPreviousPage).toBe(page > 0)
    if (!pageInfo.hasNextPage) return rows
    expect(nodes).toHaveLength(limit)
    after = pageInfo.endCursor
  }
  throw new Error('the walk did not end')
}

describe('connections', () => {
  test('every list has one, with the rows and the number of rows of the list', async () => {
    const logs = new Set(['auditLogs', 'esbAuditLogs'])
    for (const list of kit.lists.keys()) {
      const rows = (await kit.ask(list, { pagination: { limit: 100, offset: 0 } })).data.rows as {
        id: string
      }[]
      const { error, data } = await kit.askConnection(list, { pagination: { limit: 100, offset: 0 } })
      expect([list, error]).toEqual([list, null])
      const { nodes, totalCount, isTotalExact, pageInfo } = data.rows as Connection
      expect([list, nodes.map(({ id }) => String(id)).toSorted()]).toEqual([
        list,
        rows.map(({ id }) => id).toSorted(),
      ])
      expect({ list, totalCount, isTotalExact }).toEqual({
        list,
        totalCount: rows.length,
        isTotalExact: true,
      })
      expect(pageInfo.hasNextPage).toBe(false)
      const next = await kit.askConnection(list, { after: pageInfo.endCursor })
      expect([list, next.error, (next.data?.rows as Connection | undefined)?.nodes]).toEqual([list, null, []])
      if (logs.has(list)) continue
      for (const field of await kit.publishedFields(list)) {
        const ordered = await kit.askConnection(list, {
          order: [{ field, direction: 'DESC' }],
          pagination: { limit: 1, offset: 0 },
        })
        const { endCursor } = (ordered.data?.rows as Connection | undefined)?.pageInfo ?? {}
        const behind = await kit.askConnection(list, {
          order: [{ field, direction: 'DESC' }],
          after: endCursor,
        })
        const left = (behind.data?.rows as Connection | undefined)?.nodes.length
        expect([list, field, behind.error, left]).toEqual([list, field, null, rows.length - 1])
      }
    }
  })

  test('a walk by cursor returns every row once, in every order', async () => {
    const tenants = Array.from({ length: 33 }, (_, index) => ({
      slug: `t-${index}`,
      name: `name ${index % 4}`,
      mode: index % 3 === 0 ? 'dedicated' : 'shared',
    }))
    await kit.seedTenants('walked', tenants)
    const ascending = (field: string) => ({ field })
    const descending = (field: string) => ({ field, direction: 'DESC' })
    for (const order of [
      [],
      [ascending('name')],
      [descending('name')],
      [ascending('deploymentMode'), ascending('name')],
      [descending('deploymentMode'), ascending('name'), descending('slug')],
      [ascending('id')],
      [descending('id'), ascending('name')],
    ]) {
      const expected = await kit.tenantsOf('walked', { order })
      for (const limit of [1, 10])
        expect((await walk((args) => queryTenants('walked', { ...args, order }), limit)) as object[]).toEqual(
          expected.map((slug) => ({ slug })),
        )
    }
  })

  test('null is the last value of an ascending order and the first of a descending one', async () => {
    const person = await seedUser(kit.service.sql, 'with-tokens')
    for (let index = 0; index < 6; index++) await seedAccessToken(kit.service.sql, person)
    await kit.service.sql.query(
      `update personal_access_tokens t set last_used_at = case when n % 2 = 0 then now() - n * interval '1 ms' end
       from (select id, row_number() over (order by id) as n from personal_access_tokens where user_id = $1) numbered
       where t.id = numbered.id`,
      [person.id],
    )
    for (const direction of ['ASC', 'DESC']) {
      const order = [{ field: 'lastUsedAt', direction }]
      const whole = await kit.service.query(
        person,
        'query($order: [Order!]) { rows: myPersonalAccessTokens(order: $order) { id } }',
        { order },
      )
      const pages = await walk(
        (args) =>
          kit.service.query(
            person,
            `query(${signature}) { page: myPersonalAccessTokensConnection(${paging}) ${selection('id')} }`,
            { ...args, order },
          ),
        1,
      )
      expect(pages).toEqual(whole.data.rows)
      expect(pages).toHaveLength(6)
    }
  })

  test('filters apply to the rows and to the total', async () => {
    await kit.seedTenants('filtered', [{ slug: 'a' }, { slug: 'b', mode: 'dedicated' }, { slug: 'c' }])
    const { data } = await queryTenants('filtered', {
      filters: [{ field: 'deploymentMode', value: 'shared' }],
      pagination: { limit: 1, offset: 0 },
    })
    expect(data.page).toMatchObject({ nodes: [{}], totalCount: 2, isTotalExact: true })
  })

  test('a total above 10,000 is not exact', async () => {
    const { id } = await seedProject(kit.service.sql, 'crowded')
    await kit.service.sql.query(
      `insert into tenants (id, project_id, slug, name)
       select gen_random_uuid(), $1, 'crowd-' || n, 'crowd' from generate_series(1, 10000) n`,
      [id],
    )
    const total = async (): Promise<unknown> => {
      const { data } = await queryTenants('crowded', { pagination: { limit: 1, offset: 0 } })
      return { totalCount: data.page.totalCount, isTotalExact: data.page.isTotalExact }
    }
    expect(await total()).toEqual({ totalCount: 10_000, isTotalExact: false })
    await kit.service.sql.query("delete from tenants where project_id = $1 and slug = 'crowd-1'", [id])
    expect(await total()).toEqual({ totalCount: 10_000, isTotalExact: true })
  })

  test('a cursor of another list or order, or a forged one, is rejected', async () => {
    await kit.seedTenants('forged', [{ slug: 'a' }, { slug: 'b' }])
    const { data } = await queryTenants('forged', {
      order: [{ field: 'name' }],
      pagination: { limit: 1, offset: 0 },
    })
    const cursor = data.page.pageInfo.endCursor as string
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const after of [
      cursor,
      '',
      'x',
      '💥',
      'a'.repeat(20_000),
      encode({}),
      encode(['id asc', 'not an id']),
      encode(['id asc', { id: 1 }]),
      encode(['id asc', 'a\0b']),
      encode(['id asc', "' or 1=1"]),
    ]) {
      const answer = await queryTenants('forged', { after })
      expect([after.slice(0, 30), answer.errors[0]?.extensions?.code]).toEqual([
        after.slice(0, 30),
        'bad_request',
      ])
      expect(answer.error).toContain('after is not a valid cursor')
    }
    const both = await queryTenants('forged', {
      order: [{ field: 'name' }],
      after: cursor,
      pagination: { limit: 1, offset: 1 },
    })
    expect(both.error).toContain('pass either after or a pagination offset')
  })

  test('connections inside lists cost one statement per level', async () => {
    const text = `{ projects { slug tenantsConnection(pagination: {limit: 10, offset: 0}) {
      nodes { slug } pageInfo { endCursor } totalCount } } }`
    kit.service.statements.length = 0
    const { data, error } = await kit.service.query(kit.admin, text)
    expect(error).toBeNull()
    expect((data.projects as unknown[]).length).toBeGreaterThan(3)
    for (const { tenantsConnection } of data.projects as { tenantsConnection: Connection }[])
      expect(tenantsConnection.nodes).toHaveLength(Math.min(10, tenantsConnection.totalCount))
    const reads = kit.service.statements.filter((statement) => statement.includes('from "tenants"'))
    expect(reads).toHaveLength(2)
  })
})

describe('the object budget', () => {
  test('counts the rows and the totals of connections, even if no field returns the rows', async () => {
    await kit.seedTenants(
      'budget',
      Array.from({ length: 50 }, (_, index) => ({ slug: `budget-${index}` })),
    )
    const inner = Array.from(
      { length: 25 },
      (_, index) => `c${index}: tenantsConnection { totalCount }`,
    ).join(' ')
    const nested = `{ tenants(projectSlug: "budget") { project { tenants { project { ${inner} } } } } }`
    const { error } = await kit.service.query(kit.admin, nested)
    expect(error).toContain('would have more than 100000 objects')
    const allowed = await kit.service.query(kit.admin, `{ project(slug: "budget") { ${inner} } }`)
    expect(allowed.error).toBeNull()
  })
})

describe('a list without pagination', () => {
  test('says in extensions that it was cut at its default page size', async () => {
    await kit.seedTenants(
      'cut',
      Array.from({ length: 101 }, (_, index) => ({ slug: `cut-${index}` })),
    )
    const ask = (text: string) => kit.service.query(kit.admin, text)
    const cut = await ask(
      '{ all: tenants(projectSlug: "cut") { id } project(slug: "cut") { tenants { id } } }',
    )
    expect(cut.data.all).toHaveLength(100)
    expect(cut.extensions?.truncatedLists).toEqual(
      expect.arrayContaining([
        { path: ['all'], limit: 100 },
        { path: ['project', 'tenants'], limit: 100 },
      ]),
    )
    const paged = await ask('{ tenants(projectSlug: "cut", pagination: {limit: 100, offset: 0}) { id } }')
    expect(paged.extensions).toBeUndefined()
    await kit.service.sql.query("delete from tenants where slug = 'cut-0'")
    expect((await ask('{ tenants(projectSlug: "cut") { id } }')).extensions).toBeUndefined()
  })
})
