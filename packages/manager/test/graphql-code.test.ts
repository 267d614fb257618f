// Tests that text from callers never becomes code: no part of a document is compiled, however often it is sent.
import { describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { rawCall } from './kit/http.ts'
import { useProject } from './kit/project.ts'
import { operations } from './policy/operations.ts'
import { createMatrixWorld } from './policy/world.ts'

const { service, admin, project } = useProject({ slug: 'code' })

const world = globalThis as { ran?: boolean }
/** A document compiler mistakes this string for a date and copies it verbatim into the generated code. */
const marker = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d(globalThis.ran=true)'

const hostile: Record<string, string> = {
  'a literal': `{ project(slug: "${marker}") { id } }`,
  'a block string': `{ project(slug: """${marker}""") { id } }`,
  'a default value': `query($s: String! = "${marker}") { project(slug: $s) { id } }`,
  'a default value of an input': `query($f: [Filter!] = [{field: "name", value: "${marker}"}]) { projects(filters: $f) { id } }`,
  'an argument of a directive': `{ me { id @include(if: "${marker}") } }`,
  'a default value for a directive': `query($b: Boolean = true, $s: String = "${marker}") { me { id @include(if: $b) } project(slug: $s) { id } }`,
  'an input object': `{ projects(filters: {field: "name", value: "${marker}"}) { id } }`,
  'a list of input objects': `{ projects(filters: [{field: "${marker}", value: ""}]) { id } }`,
  'an input object of a mutation': `mutation { createProject(input: {name: "${marker}", slug: "Not A Slug"}) { id } }`,
  'a nested list': `{ project(slug: "code") { tenants(filters: {field: "name", value: "${marker}"}) { id } } }`,
  'an id': `{ endpoint(application: "${marker}", id: "${marker}") { id } }`,
  'a fragment': `{ ...F } fragment F on Query { project(slug: "${marker}") { id } }`,
}

describe('code generation', () => {
  test('a text that a compiler would take for code runs nothing, in any place, the tenth time either', async () => {
    for (const [place, text] of Object.entries(hostile))
      for (let run = 0; run < 10; run++) {
        await service.query(admin, text)
        expect([place, run, world.ran]).toEqual([place, run, undefined])
      }
    const variables = { s: marker }
    for (let run = 0; run < 10; run++)
      await service.query(admin, 'query($s: String!) { project(slug: $s) { id } }', variables)
    expect(world.ran).toBeUndefined()
  })

  test('nothing but POST /query executes a document', async () => {
    const headers = [...Object.entries(headersOf(admin)), ['content-type', 'application/json']] as [
      string,
      string,
    ][]
    const slugs = async () => (await service.sql.query('select count(*) from projects')).rows
    const before = await slugs()
    const query = 'mutation { createProject(input: {name: "b", slug: "sneaked"}) { id } }'
    const address = `query=${encodeURIComponent(query)}`
    const ways = [
      ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'QUERY'].map((method) => [method, '/query']),
      ...['/graphql', '/graphiql', '/gql', '/query/', '/subscriptions'].map((path) => ['POST', path]),
      ['GET', '/graphql'],
    ] as [string, string][]
    for (const [method, path] of ways) {
      const body = JSON.stringify({ query })
      const { status } = await rawCall(service.url, { method, path: `${path}?${address}`, headers, body })
      expect([method, path, status]).toEqual([method, path, expect.toBeOneOf([400, 404, 405])])
    }
    const upgrade = [
      ['connection', 'upgrade'],
      ['upgrade', 'websocket'],
      ['sec-websocket-version', '13'],
    ]
    for (const path of ['/query', '/graphql', '/subscriptions']) {
      const { status } = await rawCall(service.url, {
        method: 'GET',
        path,
        headers: [
          ...headers,
          ...(upgrade as [string, string][]),
          ['sec-websocket-key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
        ],
      })
      expect([path, status]).toEqual([path, 404])
    }
    expect(await slugs()).toEqual(before)
  })

  test('after the start no document has code made, whatever it holds and however often it comes', async () => {
    const matrix = await createMatrixWorld(service)
    const texts = [
      ...Object.values(hostile),
      ...operations
        .filter(({ name }) => !name.startsWith('Mutation'))
        .map(({ text }) => text(matrix.own, '00000000-0000-7000-8000-000000000000')),
      '{ me { id } }',
      '{ projects { id name tenants { id } } }',
    ]
    const made: string[] = []
    const original = globalThis.Function
    const watched = new Proxy(original, {
      construct: (target, args: string[]) => {
        made.push(args.join())
        return Reflect.construct(target, args)
      },
      apply: (target, self, args: string[]) => {
        made.push(args.join())
        return Reflect.apply(target, self, args) as unknown
      },
    })
    globalThis.Function = watched
    Object.defineProperty(original.prototype, 'constructor', { value: watched })
    try {
      // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- proves that the proxy detects code generation
      expect(new Function('return 1')()).toBe(1)
      for (const text of texts) for (let run = 0; run < 6; run++) await service.query(admin, text)
    } finally {
      globalThis.Function = original
      Object.defineProperty(original.prototype, 'constructor', { value: original })
    }
    expect(made).toEqual(['return 1'])
  })
})

describe('names that JavaScript knows', () => {
  const names = [
    '__proto__',
    'constructor',
    'prototype',
    'then',
    'toString',
    'toJSON',
    'valueOf',
    'hasOwnProperty',
  ]
  const own = (value: unknown, name: string): unknown =>
    Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : 'not an own key'

  test('as aliases they are keys of the answer, and of nothing else', async () => {
    for (const name of names)
      for (let run = 0; run < 4; run++) {
        const { data, error } = await service.query(
          admin,
          `{ ${name}: project(slug: "code") { ${name}: id tenants { ${name}: id } } list: projects { ${name}: slug ok: id } }`,
        )
        const found = own(data, name) as { tenants: object[] }
        expect([name, error, own(found, name), own(found.tenants[0], name)]).toEqual([
          name,
          null,
          project.id,
          project.tenantId,
        ])
        expect(data.list.map((row: object) => own(row, name))).toContain('code')
      }
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as { id?: string }).id).toBeUndefined()
  })

  test('as names of operations, fragments and variables they are names', async () => {
    for (const name of names) {
      const text = `query ${name}($${name}: String!) { project(slug: $${name}) { ...${name} } } fragment ${name} on Project { slug }`
      const body = `{"query": ${JSON.stringify(text)}, "operationName": "${name}", "variables": {"${name}": "code"}}`
      const response = await fetch(`${service.url}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headersOf(admin) },
        body,
      })
      // Bodies with the key __proto__ are rejected as a whole.
      const expected = name === '__proto__' ? 400 : 200
      expect([name, response.status]).toEqual([name, expected])
      const { data } = (await response.json()) as { data: unknown }
      expect([name, data]).toEqual([name, expected === 200 ? { project: { slug: 'code' } } : null])
      const missing = await service.query(admin, text)
      expect([name, missing.status]).toEqual([name, 400])
    }
  })

  test('as fields, arguments and keys of inputs they do not exist', async () => {
    for (const name of names.filter((one) => one !== '__proto__'))
      for (const [text, variables] of [
        [`{ me { ${name} } }`, {}],
        [`{ projects(${name}: 1) { id } }`, {}],
        [
          'query($f: [Filter!]) { projects(filters: $f) { id } }',
          { f: { field: 'id', value: '', [name]: 1 } },
        ],
      ] as const) {
        const { status } = await service.query(admin, text, variables)
        expect([name, text, status]).toEqual([name, text, 400])
      }
  })
})
