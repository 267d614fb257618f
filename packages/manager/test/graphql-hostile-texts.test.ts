// What is wrong with a request is said in a few lines and in no time, whatever the caller put into the request.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApp, headersOf, startTestApp } from './kit/app.ts'
import { type SeededProject, seedProject, seedUser } from './kit/seed.ts'

let service: TestApp
let admin: Person
let project: SeededProject
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  project = await seedProject(service.sql, 'texts')
})
afterAll(() => service.close())

const mebibyte = 1_048_576
const fill = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length))
const filters = 'query($f: [Filter!]) { projects(filters: $f) { id } }'
const filter = { field: 'name', value: 'x' }
const endpoint = 'mutation($i: CreateEndpointInput!) { createEndpoint(applicationId: "x", input: $i) { id } }'

/** Bodies that are refused; each is large enough for anything above linear to take minutes. */
const attacks: Record<string, { query: string; variables?: object; operationName?: string }> = {
  'a key that reads like a message': {
    query: filters,
    variables: { f: { ...filter, [fill(' cannot represent a ', mebibyte)]: 1 } },
  },
  'a key that reads like a whole message': {
    query: filters,
    variables: { f: { ...filter, [fill(' got invalid value  at ""; Field', mebibyte)]: 1 } },
  },
  'a key of quotes': { query: filters, variables: { f: { ...filter, [fill(' at "', mebibyte)]: 1 } } },
  'a key of 3 MiB': { query: filters, variables: { f: { ...filter, [fill('x', 3 * mebibyte)]: 1 } } },
  'a wrong word': {
    query: filters.replace('filters: $f', 'filters: $f, order: $o').replace('$f:', '$o: [Order!], $f:'),
    variables: { o: { field: 'id', direction: fill(' cannot represent value: ', mebibyte) } },
  },
  'a text in place of an object': { query: filters, variables: { f: fill('value: ', 3 * mebibyte) } },
  'an object in place of a text': {
    query: filters,
    variables: { f: { field: 'x', value: { a: fill(' value', 3 * mebibyte) } } },
  },
  'many wrong keys beside a long value': {
    query: filters,
    variables: {
      f: {
        ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1])),
        value: fill('v', 3 * mebibyte),
      },
    },
  },
  'many long keys': {
    query: filters,
    variables: { f: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [fill(`k${i}`, 1e5), 1])) },
  },
  'a key of 20 names of fields': {
    query: endpoint,
    variables: { i: { [fill('transformationTemplate', 1e6)]: 1 } },
  },
  'many lines before variables of one name': {
    query: `query(${fill('\n', 28_000)}${fill('$a:Int ', 2_600)}) { me { id } }`,
  },
  'many lines before unknown fields': { query: `{ me { ${fill('\n', 28_000)}${fill('x ', 120)} } }` },
  'a long field': { query: `{ me { ${fill('x', 30_000)} } }` },
  'a long alias': { query: `{ me { ${fill('x', 30_000)}: id } }` },
  'a long operation': { query: `query ${fill('x', 30_000)} { me { id } }` },
  'a long variable': { query: `query($${fill('x', 30_000)}: Int) { me { id } }` },
  'a long fragment that spreads itself': {
    query: `{ me { ...${fill('x', 9_000)} } } fragment ${fill('x', 9_000)} on User { ...${fill('x', 9_000)} }`,
  },
  'a long type': { query: `query($a: ${fill('x', 30_000)}) { me { id } }` },
  'a long text where none may stand': { query: `{ me "${fill('x', 30_000)}" { id } }` },
  'a long literal of the wrong type': { query: `{ projects(pagination: "${fill('x', 30_000)}") { id } }` },
  'a long word': { query: `{ projects(order: {field: "id", direction: ${fill('X', 30_000)}}) { id } }` },
  'a long key of a literal': { query: `{ projects(filters: {${fill('x', 30_000)}: 1}) { id } }` },
  'a text of open brackets': { query: fill('{me', 30_000) },
  'a name of an operation': { query: '{ me { id } }', operationName: fill('x', 3 * mebibyte) },
}

async function post(body: object) {
  const start = performance.now()
  const response = await fetch(`${service.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf(admin) },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, ms: performance.now() - start }
}

describe('hostile texts', () => {
  test.each(Object.keys(attacks))('%s is refused at once and briefly', async (name) => {
    // The best of three: other test files share the machine.
    const answers = []
    for (let round = 0; round < 3; round++) answers.push(await post(attacks[name] as object))
    const [answer] = answers
    expect(answer?.status).toBe(400)
    expect(answer?.text.length).toBeLessThan(20_000)
    const best = Math.min(...answers.map(({ ms }) => ms))
    process.stdout.write(
      `graphql-text ${name}: best ${best.toFixed(1)} ms, ${answer?.text.length} characters\n`,
    )
    expect(best).toBeLessThan(2_000)
  })

  test('what is wrong is still said: the place and the rule, and never the value', async () => {
    const secret = 'hunter2'
    const cases: [string, object, string][] = [
      [
        filters,
        { f: [filter, { field: 'name', value: { secret } }] },
        'Variable "$f" got an invalid value at "f[1].value"; String cannot represent a non string value',
      ],
      [
        filters,
        { f: { ...filter, valeu: secret } },
        'Variable "$f" got an invalid value; Field "valeu" is not defined by type "Filter".',
      ],
      [filters, { f: secret }, 'Variable "$f" got an invalid value; Expected type "Filter" to be an object.'],
      [
        filters,
        { f: { field: secret } },
        'Variable "$f" got an invalid value; Field "value" of required type "String!" was not provided.',
      ],
      [
        'query($s: String!) { project(slug: $s) { id } }',
        {},
        'Variable "$s" of required type "String!" was not provided.',
      ],
      [
        'query($s: String!) { project(slug: $s) { id } }',
        { s: null },
        'Variable "$s" of non-null type "String!" must not be null.',
      ],
      [`{ project(slug: {a: "${secret}"}) { id } }`, {}, 'String cannot represent a non string value'],
      [`{ projects(pagination: "${secret}") { id } }`, {}, 'Expected value of type "Pagination"'],
      [
        `{ projects(order: {field: "id", direction: "${secret}"}) { id } }`,
        {},
        'Enum "OrderDirection" cannot represent non-enum value',
      ],
      ['{ me { idd } }', {}, 'Cannot query field "idd" on type "User". Did you mean "id"?'],
    ]
    for (const [query, variables, message] of cases) {
      const { status, errors } = await service.query(admin, query, variables as Record<string, unknown>)
      expect([query, status, errors[0]?.message]).toEqual([query, 400, message])
      expect(JSON.stringify(errors)).not.toContain(secret)
    }
  })

  test('nor is a value said that stands beside a null where none may be', async () => {
    const text =
      'query($v: String = "x") { projects(filters: [{field: "hunter2", value: "hunter2"}, {field: "name", value: $v}]) { id } }'
    const { errors } = await service.query(admin, text, { v: null })
    expect(errors.map(({ message }) => message)).toEqual(['Argument "filters" has invalid value'])
  })

  test('what services say of a long text is cut too', async () => {
    const long = fill('x', 2 * mebibyte)
    const settings = await service.query(admin, 'query($p: ID!) { settings(project: $p) { id } }', {
      p: project.id,
    })
    const answers = [
      await service.query(admin, filters, { f: { field: long, value: 'x' } }),
      await service.query(
        admin,
        'mutation($t: ID!, $u: ID!, $r: String!) { addUserToTenant(tenantID: $t, userID: $u, roleName: $r) { id } }',
        { t: project.tenantId, u: admin.id, r: long },
      ),
      await service.query(
        admin,
        'mutation($id: ID!, $i: UpdateBackendModuleConfigInput!) { updateBackendModuleConfig(id: $id, input: $i) { id } }',
        { id: settings.data.settings.id, i: { EnabledModules: [long.slice(0, 1e6), long.slice(0, 1e6)] } },
      ),
    ]
    for (const { errors } of answers)
      expect(errors.map(({ extensions, message }) => [extensions?.code, message.length < 600])).toEqual([
        ['bad_request', true],
      ])
  })

  test('a null for what must not be null is the fault of the caller, also where a default hides it', async () => {
    const answer = await service.query(admin, 'query($s: String = "x") { project(slug: $s) { id } }', {
      s: null,
    })
    expect(answer.errors.map(({ extensions }) => extensions?.code)).toEqual(['bad_request'])
  })
})
