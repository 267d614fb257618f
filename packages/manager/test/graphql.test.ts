// Tests POST /query as a transport: the shapes of requests and responses, limits, introspection and variables.
import { readFileSync } from 'node:fs'
import { buildSchema, getIntrospectionQuery, parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { json, manyWrongVariables, postBody } from '@manager/harness/graphql.ts'
import { rawCall } from './kit/http.ts'
import { overLimits } from './kit/over-limits.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

/** Sends the body unmodified. */
const post = (body: string, headers: Record<string, string> = {}) =>
  postBody(service.url, { ...headersOf(admin), ...headers }, body)

describe('shapes', () => {
  test('[graphql.endpoint] query and variables in, data out', async () => {
    await seedProject(service.sql, 'shape')
    const answer = await post(
      json('query($s: String!) { project(slug: $s) { slug } }', { variables: { s: 'shape' } }),
    )
    expect([answer.status, answer.body]).toEqual([200, { data: { project: { slug: 'shape' } } }])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('only POST is served', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const headers = Object.entries(headersOf(admin))
      expect((await rawCall(service.url, { method, path: '/query?query={me{id}}', headers })).status).toBe(
        404,
      )
    }
  })

  test('[graphql.error-shape] a failed operation answers errors with message and path, and data null', async () => {
    const failed = await post(json('{ project(slug: "none") { id } }'))
    expect(failed.body).toEqual({
      errors: [
        {
          message: 'project not found',
          path: ['project'],
          extensions: { code: 'not_found', request_id: expect.any(String) as string },
        },
      ],
      data: null,
    })
    const invalid = await post(json('{ nothing }'))
    expect([invalid.status, invalid.body['data']]).toEqual([400, null])
    const syntax = await post(json('{ projects {'))
    expect([syntax.status, syntax.body['data']]).toEqual([400, null])
  })

  test('malformed bodies say what is wrong', async () => {
    const cases: [string, RegExp][] = [
      ['{', /not valid JSON/],
      ['"text"', /JSON object/],
      ['{}', /query must be a string/],
      ['{"query": 1}', /query must be a string/],
      ['{"query": "{me{id}}", "variables": []}', /variables must be an object/],
      ['{"query": "{me{id}}", "operationName": "a b"}', /operationName/],
      ['{"query": "{me{id}}", "__proto__": {"x": 1}}', /not valid JSON/],
      [json('{"kind":"Document","definitions":[]}'), /./],
      [json('{ me { id } }', { variables: { x: Array.from({ length: 40_000 }, () => '') } }), /40000 values/],
      [
        `{"query": "{me{id}}", "variables": {"x": ${'['.repeat(120_000)}${']'.repeat(120_000)}}}`,
        /40000 values/,
      ],
    ]
    for (const [body, text] of cases) {
      const { status, body: answer } = await post(body)
      expect([body, status, answer['data']]).toEqual([body, 400, null])
      expect((answer['errors'] as { message: string }[])[0]?.message).toMatch(text)
    }
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  test('a JSON syntax tree is no document', async () => {
    const tree = JSON.stringify(parse('{ me { id } }', { noLocation: true }))
    const { status, body } = await post(json(tree))
    expect([status, body['data']]).toEqual([400, null])
  })

  test('[graphql.body-refused] a body over the limit answers 413, another type 415', async () => {
    const large = await post(json('{ me { id } }', { variables: { x: 'y'.repeat(4_200_000) } }))
    expect(large.status).toBe(413)
    const types = [
      'text/plain',
      'application/jsonx',
      'application/json; charset=utf-16',
      'application/json, text/plain',
      'application/json\t; a=b',
      'multipart/form-data',
      'application/graphql',
      'text/json',
      '*/*',
      'application/json;charset=latin1',
    ]
    for (const type of types)
      expect([type, (await post(json('{ me { id } }'), { 'content-type': type })).status]).toEqual([
        type,
        415,
      ])
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset=UTF-8',
    ])
      expect([type, (await post(json('{ me { id } }'), { 'content-type': type })).status]).toEqual([
        type,
        200,
      ])
  })

  test('[graphql.no-batching] an array of operations is refused and runs none', async () => {
    const mutation = 'mutation { createProject(input: {name: "b", slug: "batched"}) { id } }'
    const { status } = await post(JSON.stringify([{ query: mutation }]))
    expect(status).toBe(400)
    expect((await service.sql.query("select 1 from projects where slug = 'batched'")).rowCount).toBe(0)
  })

  test('a page of another site or host is refused with 403 before its document is read, and the own page is not', async () => {
    const { host, port } = new URL(service.url)
    const refused: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'Same-Origin, none' },
      { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
    ]
    for (const headers of refused)
      for (const query of [
        '{ me { id } }',
        'mutation { createProject(input: {name: "f", slug: "foreign"}) { id } }',
      ]) {
        const { status, body } = await post(json(query), headers)
        expect([headers, status, body['data']]).toEqual([headers, 403, null])
        const [{ message, extensions } = { message: '', extensions: {} }] = body['errors'] as {
          message: string
          extensions: { code?: string }
        }[]
        expect([message, extensions.code]).toEqual([
          'cross-origin query rejected; send it from a page of this host',
          'forbidden',
        ])
      }
    expect((await service.sql.query("select 1 from projects where slug = 'foreign'")).rowCount).toBe(0)
    const own: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
      // The host name that the proxy uses may differ from the one in the browser.
      { 'sec-fetch-site': 'same-origin', origin: 'https://manager.example' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-mode': 'cors' },
      { origin: 'https://manager.example', 'x-forwarded-host': 'manager.example' },
    ]
    for (const headers of own) expect((await post(json('{ me { id } }'), headers)).status).toBe(200)
    // Without the proxy secret, the gate rejects the request first.
    const bare = await postBody(service.url, { 'sec-fetch-site': 'cross-site' }, json('{ me { id } }'))
    expect(bare.status).toBe(401)
  })

  test('[graphql.no-rate-limit] a burst of valid requests is never answered 429', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => post(json('{ me { id } }'))))
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([200])
  })

  test('a request id is taken over when it is harmless, and made otherwise', async () => {
    expect(
      (await post(json('{ me { id } }'), { 'x-request-id': 'abc-1.2_3' })).headers.get('x-request-id'),
    ).toBe('abc-1.2_3')
    for (const id of ['a b', 'x'.repeat(65), 'a;b', '<x>'])
      expect((await post(json('{ me { id } }'), { 'x-request-id': id })).headers.get('x-request-id')).toMatch(
        /^[0-9a-f-]{36}$/,
      )
  })
})

describe('schema', () => {
  type Type = {
    name: string
    kind: string
    fields?: { name: string; type: Ref; args: { name: string; type: Ref }[] }[]
    inputFields?: { name: string; type: Ref }[]
  }
  type Ref = { name: string | null; ofType: Ref | null }
  const named = (type: Ref): string => type.name ?? named(type.ofType as Ref)
  let types: Type[]
  beforeAll(async () => {
    const { data } = await service.query(admin, getIntrospectionQuery())
    types = ((data as Record<string, { types: Type[] }>)['__schema'] as { types: Type[] }).types.filter(
      ({ name }) => !name.startsWith('__'),
    )
  })
  const allFields = () =>
    types
      .flatMap((type) => (type.fields ?? []).flatMap((field) => [field, ...field.args]))
      .concat(types.flatMap((type) => (type.inputFields ?? []).map((field) => ({ ...field, args: [] }))))

  test('[graphql.introspection] the standard introspection query works for any caller, and for nobody else', async () => {
    const stranger = await seedUser(service.sql, 'stranger')
    const answer = await service.query(stranger, getIntrospectionQuery())
    expect([answer.status, answer.error]).toEqual([200, null])
    const anonymous = await fetch(`${service.url}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: json(getIntrospectionQuery()),
    })
    expect(anonymous.status).toBe(401)
  })

  test('[graphql.string-roles] roles and deploymentMode are String', () => {
    const fields = allFields().filter(({ name }) => ['role', 'roleName', 'deploymentMode'].includes(name))
    expect(fields.length).toBeGreaterThan(8)
    expect([...new Set(fields.map(({ type }) => named(type)))]).toEqual(['String'])
  })

  test('[graphql.ids] identifiers are ID', () => {
    // These two fields are strings: some audited entities have no UUID, and callers choose their request ids.
    const others = new Set(['entityID', 'requestId'])
    const fields = allFields().filter(({ name }) => /^(id|.*(?<!By)(Id|ID))$/.test(name) && !others.has(name))
    expect(fields.length).toBeGreaterThan(20)
    expect([...new Set(fields.map(({ type }) => named(type)))]).toEqual(['ID'])
  })

  test('[graphql.timestamps] timestamps are String, and a filter on one refuses another form', async () => {
    const fields = allFields().filter(({ name }) => name.endsWith('At'))
    expect([...new Set(fields.map(({ type }) => named(type)))]).toEqual(['String'])
    const { error } = await service.query(
      admin,
      '{ projects(filters: {field: "createdAt", value: "yesterday"}) { id } }',
    )
    expect(error).toContain('RFC 3339')
  })

  test('[graphql.input-names] inputs are named after what they create or update', () => {
    const inputs = types.filter(({ kind }) => kind === 'INPUT_OBJECT').map(({ name }) => name)
    expect(inputs.filter((name) => !/^(Create|Update)[A-Za-z0-9]+Input$/.test(name)).toSorted()).toEqual([
      'CopyTenant2ApplicationConfigInput',
      'Filter',
      'KeyValuePairInput',
      'Order',
      'Pagination',
      'PreviewESBTransformInput',
    ])
  })

  test('[graphql.additive] every operation the service was first published with still validates', () => {
    const schema = buildSchema(service.app.describe().schema)
    const baseline = readFileSync(new URL('./baseline-operations.graphql', import.meta.url), 'utf8')
    expect(validate(schema, parse(baseline))).toEqual([])
    const covered = new Set(baseline.match(/[A-Za-z0-9]+(?=\()|\bme\b/g))
    for (const name of ['createProject', 'addUserToTenant', 'auditLogs', 'rotateMachineUserToken'])
      expect(covered).toContain(name)
  })

  test('[graphql.playground] the page is served in development only, whole and without another host', async () => {
    const open = await startTestApp({ env: { SVC_ENV: 'development' }, database: service.database })
    const page = await fetch(`${open.url}/gql`)
    const html = await page.text()
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(html).not.toMatch(/<(script|link|img)[^>]+(src|href)=["']?https?:/i)
    await open.close()
    const missing = await fetch(`${service.url}/gql`, { headers: headersOf(admin) })
    expect(missing.status).toBe(404)
    expect(service.app.routes.some(({ path }) => path === '/gql')).toBe(false)
  })
})

describe('limits', () => {
  test('a request that is overdue is given up before its next step', async () => {
    const now = performance.now.bind(performance)
    let calls = 0
    // Each clock read advances by 25 s, except reads by the database code, which must not time out.
    const isOfDatabase = (): boolean => new Error().stack?.includes('/platform/postgres/') === true
    const clock = vi
      .spyOn(performance, 'now')
      .mockImplementation(() => (isOfDatabase() ? now() : now() + 25_000 * calls++))
    const late = await service.query(admin, '{ me { id } }')
    clock.mockRestore()
    expect([late.status, late.error]).toEqual([503, expect.stringContaining('timed out')])
    expect((await service.query(admin, '{ me { id } }')).status).toBe(200)
  })

  test('an ordinary document passes the same limits', async () => {
    const text =
      '{ projects(pagination: {limit: 10, offset: 0}) { id name tenants(pagination: {limit: 20, offset: 0}) { id project { slug } } environments { name } applications { slug } } me { id } }'
    expect((await post(json(text))).status).toBe(200)
  })
})

describe('limits', () => {
  test.each(Object.entries(overLimits))('%s: refused', async (_name, body) => {
    expect((await post(body)).status).toBe(400)
  })
})

describe('operations and variables', () => {
  test('two operations of one document do not take each other for themselves', async () => {
    const query = 'query A { me { id } } query B { projects { slug } }'
    for (let run = 0; run < 4; run++) {
      expect(Object.keys((await post(json(query, { operationName: 'A' }))).body['data'] as object)).toEqual([
        'me',
      ])
      expect(Object.keys((await post(json(query, { operationName: 'B' }))).body['data'] as object)).toEqual([
        'projects',
      ])
    }
  })

  test('a list of wrong variables is answered briefly', async () => {
    const body = manyWrongVariables()
    for (let run = 0; run < 4; run++) {
      const { status, body: answer } = await post(body)
      expect([run, status, (answer['errors'] as unknown[]).length <= 21]).toEqual([run, 400, true])
    }
  })

  test('wrong variables are refused, on every call', async () => {
    for (let run = 0; run < 4; run++) {
      const { status, body } = await post(
        json('query($s: String!) { project(slug: $s) { id } }', { variables: { s: { a: 1 } } }),
      )
      expect([run, status, body['data']]).toEqual([run, 400, null])
    }
  })
})
