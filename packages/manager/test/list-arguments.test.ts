import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListArgs, type ListFields, readPage } from '../src/platform/lists/filters.ts'
import { type ListKit, type TypeRef, createListKit, reference, formatType } from './kit/lists.ts'

const limits = [1, 10, 20, 25, 50, 100]
const words = (text: string): string[] => text.trim().split(/\s+/)
/** The list queries of the API, all of which accept the three list arguments. */
const listQueries =
  words(`projects tenants applications tenant2Applications endpoints machineUsers languagePacks
  myPersonalAccessTokens users user2applications user2projects user2tenants tenantRoleDefinitions machineUser2endpoints
  auditLogs environments triggers deploymentSpecifications piletPackages esbAuditLogs userProviderSearch
  backends projectMachineUsers machineUsersToRotate expiringAccessTokens projectInvitations tenantInvitations
  applicationInvitations scimTokens provisionedGroups groupMembers groupRules`)
const nestedLists = words(
  `Project.tenants Project.applications Project.environments Application.endpoints Application.triggers
  User.projectMemberships User.tenantMemberships User.applicationMemberships`,
)

let kit: ListKit
beforeAll(async () => {
  kit = await createListKit()
})
afterAll(() => kit.service.close())

describe('arguments of list queries', () => {
  test('[lists.arguments] every list of the schema takes filters, order and pagination of the same types', () => {
    const inSchema = [...kit.lists.keys()]
    expect(inSchema).toEqual(expect.arrayContaining([...listQueries, ...nestedLists]))
    // A list that is missing from `listQueries` would not be tested.
    expect(inSchema.filter((name) => ![...listQueries, ...nestedLists].includes(name))).toEqual([])
    for (const { args, type, of } of kit.lists.values()) {
      const types = Object.fromEntries(args.map((argument) => [argument.name, formatType(argument.type)]))
      expect(types).toMatchObject({ filters: '[Filter!]', order: '[Order!]', pagination: 'Pagination' })
      expect(formatType(type)).toBe(`[${of.name}!]!`)
    }
  })

  test('[lists.arguments] a single object works as a list of one, as literal and as variable, on every call', async () => {
    await kit.seedTenants('single', [
      { slug: 'b' },
      { slug: 'a' },
      { slug: 'other' },
      { slug: 'c', name: 'other' },
    ])
    const literal = await kit.service.query(
      kit.admin,
      `{ one: tenants(projectSlug: "single", filters: {field: "name", value: "other"},
           order: {field: "slug", direction: DESC}) { slug }
         list: tenants(projectSlug: "single", filters: [{field: "name", value: "other"}],
           order: [{field: "slug", direction: DESC}]) { slug } }`,
    )
    expect(literal.data.one).toEqual([{ slug: 'other' }, { slug: 'c' }])
    expect(literal.data.list).toEqual(literal.data.one)
    const filters = { field: 'name', value: 'other' }
    const order = { field: 'slug', direction: 'DESC' }
    expect(await kit.tenantsOf('single', { filters, order })).toEqual(['other', 'c'])
    expect(await kit.tenantsOf('single', { filters: [filters], order: [order] })).toEqual(['other', 'c'])
    for (const list of kit.lists.keys()) {
      const [field = ''] = await kit.publishedFields(list)
      const one = await kit.ask(list, { order: { field, direction: 'DESC' } })
      expect([list, one.error, one.data.rows.length > 0]).toEqual([list, null, true])
      expect(one.data).toEqual((await kit.ask(list, { order: [{ field, direction: 'DESC' }] })).data)
      const none = { field: 'id', value: '00000000-0000-4000-8000-00000000dead' }
      for (const filters of [none, [none]])
        expect([list, (await kit.ask(list, { filters })).data]).toEqual([list, { rows: [] }])
    }
  })

  test('[lists.input-types] Filter, Order and Pagination have their fields, and the direction is ASC or DESC', async () => {
    const { data } = await kit.service.query(
      kit.admin,
      `{ schema: __schema { types { name enumValues { name } inputFields { name type { ${reference} } } } } }`,
    )
    type Input = { name: string; enumValues: unknown; inputFields: { name: string; type: TypeRef }[] | null }
    const types = new Map((data.schema.types as Input[]).map((type) => [type.name, type]))
    const fieldsOf = (name: string) =>
      Object.fromEntries(
        (types.get(name)?.inputFields ?? []).map((field) => [field.name, formatType(field.type)]),
      )
    expect(fieldsOf('Filter')).toEqual({ field: 'String!', value: 'String!' })
    expect(fieldsOf('Pagination')).toEqual({ limit: 'Int!', offset: 'Int!' })
    const { direction = '', ...rest } = fieldsOf('Order')
    expect(rest).toEqual({ field: 'String!' })
    expect(types.get(direction.replace('!', ''))?.enumValues).toEqual([{ name: 'ASC' }, { name: 'DESC' }])
  })

  test('[lists.input-types] an order without a direction is ascending, as literal and as variable, on every call', async () => {
    await kit.seedTenants('undirected', [{ slug: 'b' }, { slug: 'c' }, { slug: 'a' }])
    const literal = await kit.service.query(
      kit.admin,
      '{ tenants(projectSlug: "undirected", order: {field: "slug"}) { slug } }',
    )
    expect(literal.data.tenants).toEqual([{ slug: 'a' }, { slug: 'b' }, { slug: 'c' }])
    for (let call = 0; call < 3; call++)
      expect(await kit.tenantsOf('undirected', { order: { field: 'slug' } })).toEqual(['a', 'b', 'c'])
  })

  test('[lists.limit-values] every list takes the six limits and answers no more rows', async () => {
    for (const list of kit.lists.keys())
      for (const limit of limits) {
        const answer = await kit.ask(list, { pagination: { limit, offset: 0 } })
        expect({ list, error: answer.error }).toEqual({ list, error: null })
        const { rows } = answer.data
        expect(rows.length).toBeGreaterThan(0)
        expect(rows.length).toBeLessThanOrEqual(limit)
      }
  })

  test('[lists.limit-values] every list refuses any other limit and names the six', async () => {
    for (const list of kit.lists.keys())
      for (const limit of [0, 2, 11, 99, 101, -1, 1000]) {
        const answer = await kit.ask(list, { pagination: { limit, offset: 0 } })
        expect({ list, limit, data: answer.data, error: answer.error }).toEqual({
          list,
          limit,
          data: null,
          error: expect.stringContaining('1, 10, 20, 25, 50, 100'),
        })
        expect(answer.errors[0]?.extensions?.code).toBe('bad_request')
      }
  })

  test('a limit below zero makes no room for other lists of the same document', async () => {
    const inner = 'tenants { project { tenants { project { tenants { project { tenants { id } } } } } } }'
    const tooMuch = `projects { ${inner} }`
    const refused = await kit.service.query(kit.admin, `{ ${tooMuch} }`)
    expect(refused.error).toContain('could return more than')
    const negative = 'less: projects(pagination: {limit: -2000000000, offset: 0})'
    for (const directive of ['', '@skip(if: true)']) {
      const answer = await kit.service.query(
        kit.admin,
        `{ ${negative} ${directive} { tenants { id } } ${tooMuch} }`,
      )
      expect(answer.error).toBe(refused.error)
    }
  })

  test('[lists.unknown-field] [lists.order] every list refuses an unknown filter or order field and names the allowed ones, the same for both', async () => {
    for (const list of kit.lists.keys()) {
      const allowed = await kit.publishedFields(list)
      const order = { field: 'nonsense', direction: 'ASC' }
      const answer = await kit.ask(list, { order })
      const refusal = `unknown order field "nonsense"; allowed: ${allowed.join(', ')}`
      expect({ list, data: answer.data, error: answer.error }).toEqual({ list, data: null, error: refusal })
      const second = await kit.ask(list, { order: [{ field: 'id', direction: 'ASC' }, order] })
      expect({ list, error: second.error }).toEqual({ list, error: refusal })
    }
  })

  test('[lists.unknown-field] an unknown field is refused also where the other arguments match nothing', async () => {
    const { error } = await kit.service.query(
      kit.admin,
      `{ tenant2Applications(tenantId: "${kit.main.tenantId}", applicationId: "nothing",
           filters: {field: "nonsense", value: "x"}) { id } }`,
    )
    expect(error ?? 'no error').toContain('unknown filter field "nonsense"; allowed: ')
  })

  test('the GraphQL reference names the fields of every list, and no list is called missing', async () => {
    const page = readFileSync(new URL('../../../docs/reference/graphql.md', import.meta.url), 'utf8')
    const documented = new Map<string, string[]>()
    const namesIn = (cell: string): string[] => cell.split('`').filter((_, index) => index % 2 === 1)
    for (const line of page.split('\n')) {
      const [, lists = '', fields = ''] = line.split('|')
      if (fields.trim().startsWith('`id`'))
        for (const list of namesIn(lists)) documented.set(list, namesIn(fields))
    }
    for (const list of kit.lists.keys()) {
      const published = await kit.publishedFields(list)
      expect({ list, fields: documented.get(list) }).toEqual({ list, fields: published })
    }
    expect(page).not.toContain('Not built yet')
  })

  test('[lists.order] every allowed field orders its list, up and down', async () => {
    for (const list of kit.lists.keys())
      for (const field of await kit.publishedFields(list))
        for (const direction of ['ASC', 'DESC']) {
          const { error } = await kit.ask(list, { order: { field, direction } })
          expect({ list, field, error }).toEqual({ list, field, error: null })
        }
  })
})

describe('what a list can be asked about', () => {
  const hostileNames = [
    ...'__proto__ constructor toString hasOwnProperty valueOf t1.name a.b users.id NAME * 1'.split(' '),
    'name; drop table',
    '"name"',
    'name desc',
    'id ',
    "id' or '1'='1",
    '',
  ]

  const secretColumns = ['hash', 'key_id', 'signature', 'external_email']

  /** Returns the names that `readPage` accepts even though they are not in `allowed`. */
  const acceptedBeside = (allowed: readonly string[], names: Iterable<string>): string[] => {
    const fields: ListFields = Object.fromEntries(
      allowed.map((name) => [name, { column: name, match: 'text' }]),
    )
    const accepts = (args: ListArgs): boolean => {
      try {
        return readPage(fields, args).limit > 0
      } catch {
        return false
      }
    }
    expect(allowed.every((field) => accepts({ order: [{ field }] }))).toBe(true)
    return [...names].filter(
      (field) =>
        !allowed.includes(field) &&
        (accepts({ filters: [{ field, value: 'true' }] }) || accepts({ order: [{ field }] })),
    )
  }

  test('[lists.no-secret-fields] no allowed field sounds like a secret, and each is one that callers read anyway', async () => {
    const isValue = ({ kind, ofType }: TypeRef): boolean =>
      kind === 'NON_NULL' ? isValue(ofType as TypeRef) : kind === 'SCALAR' || kind === 'ENUM'
    const offending: string[] = []
    // A membership can be filtered by these fields of its user. Callers who may read the membership may read them.
    const userFields = ['userName', 'username', 'userEmail']
    for (const [list, { of }] of kit.lists) {
      const readable = new Set(
        (of.fields ?? []).map(({ name, type }) => (isValue(type) ? name : `${name}Id`)),
      )
      if (/^user2\w+s$|^groupMembers$/.test(list)) for (const field of userFields) readable.add(field)
      for (const field of await kit.publishedFields(list))
        // A run key is not a secret: it tells backends which job to run.
        if (!readable.has(field) || /secret|hash|password|token|(?<!^run)key/i.test(field))
          offending.push(`${list}: ${field}`)
    }
    expect(offending).toEqual([])
  })

  test('[lists.no-secret-fields] [lists.unknown-field] no other column of the database and no hostile name gets through', async () => {
    const { rows } = await kit.service.sql.query<{ name: string }>(
      "select distinct column_name as name from information_schema.columns where table_schema = 'public'",
    )
    const columns = rows.map(({ name }) => name)
    expect(columns).toEqual(expect.arrayContaining(secretColumns))
    const names = new Set([
      ...columns,
      ...columns.map((name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())),
      ...hostileNames,
    ])
    const surprises: string[] = []
    const queries = [...kit.lists].filter(([, { parent }]) => parent === 'Query').map(([list]) => list)
    // `readPage` depends only on the field names of a list, so it is tested with every name on every list.
    // Through the service, each list is tested with the hostile names, some secret columns and some of the
    // other columns.
    const tried = (list: string): string[] =>
      [...names].filter(
        (name, index) =>
          hostileNames.includes(name) ||
          secretColumns.includes(name) ||
          index % queries.length === queries.indexOf(list),
      )
    for (const list of queries) {
      const allowed = await kit.publishedFields(list)
      surprises.push(...acceptedBeside(allowed, names).map((name) => `${list} reads a page by ${name}`))
      const check = async (field: string): Promise<void> => {
        const { error: filtered } = await kit.ask(list, { filters: { field, value: 'true' } })
        const { error: ordered } = await kit.ask(list, { order: { field, direction: 'ASC' } })
        const named = `"${field}"; allowed: ${allowed.join(', ')}`
        const isServed =
          ordered === null && (filtered === null || filtered.startsWith(`filter ${field} must be`))
        const isRefused =
          ordered === `unknown order field ${named}` && filtered === `unknown filter field ${named}`
        if (allowed.includes(field) ? !isServed : !isRefused)
          surprises.push(`${list} by ${field}: ${filtered}; ${ordered}`)
      }
      // The batch must be smaller than the queue for database connections.
      const batch = tried(list)
      for (let from = 0; from < batch.length; from += 100)
        await Promise.all(batch.slice(from, from + 100).map(check))
    }
    expect(surprises).toEqual([])
  })
})
