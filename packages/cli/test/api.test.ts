// Tests svc api: requests, fields, pages, selection, and hidden secrets.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parseField, readFields } from '../src/api/fields.ts'
import { createMasking } from '../src/api/masking.ts'
import { useSvc } from './kit/svc.ts'

const { service, project, env, folder, svc, json } = useSvc()
const api = (...args: string[]) => svc(['api', ...args])
const write = (name: string, text: string): string => {
  const file = path.join(folder.path, name)
  writeFileSync(file, text)
  return file
}

/** A server that returns the request that it received. */
async function withEcho(use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const isText = url === '/text'
      response.writeHead(url === '/empty' ? 204 : 200, {
        'content-type': isText ? 'text/plain' : 'application/json',
      })
      if (url === '/empty') response.end()
      else if (isText) response.end('plain \u001b[2J')
      else
        response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('a GraphQL query gets its variables from fields and files', async () => {
  const query = 'query($slug: String!) { project(slug: $slug) { id slug } }'
  const expected = { data: { project: { id: project.id, slug: 'main' } } }
  const { code, out, err } = await api('graphql', '-f', `query=${query}`, '-f', 'slug=main')
  expect([code, JSON.parse(out), err]).toEqual([0, expected, ''])
  const queryFile = write('project.graphql', query)
  expect(await json(['api', 'graphql', '-F', `query=@${queryFile}`, '-F', 'slug=main'])).toEqual(expected)
  const variables = write('variables.yaml', 'slug: main\n')
  expect(await json(['api', 'graphql', '-F', `query=@${queryFile}`, '--variables', variables])).toEqual(
    expected,
  )
  const body = JSON.stringify({ query, variables: { slug: 'main' } })
  expect(JSON.parse((await svc(['api', 'graphql', '--input', '-'], { input: body })).out)).toEqual(expected)
})

test('a mutation with nested fields changes an object', async () => {
  const mutation =
    'mutation($projectId: ID!, $input: CreateTenantInput!) { createTenant(projectId: $projectId, input: $input) { slug name } }'
  const fields = ['-f', `projectId=${project.id}`, '-f', 'input[slug]=raw', '-f', 'input[name]=1.10']
  expect(await json(['api', 'graphql', '-f', `query=${mutation}`, ...fields])).toEqual({
    data: { createTenant: { slug: 'raw', name: '1.10' } },
  })
})

test('errors are printed completely and have the exit codes of other commands', async () => {
  const missing = await api('graphql', '-f', 'query={ project(slug: "none") { id } }')
  expect([missing.code, JSON.parse(missing.out)]).toMatchObject([
    4,
    { errors: [{ extensions: { code: 'not_found' } }] },
  ])
  const invalid = await api('graphql', '-f', 'query={ nothing }')
  expect([invalid.code, invalid.out]).toEqual([1, expect.stringContaining('"errors"')])
  const rest = await api('/api/audit/export?format=xml')
  expect([rest.code, rest.err]).toEqual([1, expect.stringContaining('The Manager rejected the request')])
  expect((await api('/api/nothing')).code).toBe(4)
  expect((await svc(['api', '/api/audit/evidence'], { env: { SVC_URL: 'http://127.0.0.1:1' } })).code).toBe(5)
})

test('a REST route gets fields as a query or as a body', async () => {
  expect(await json(['api', 'api/audit/evidence', '--select', '$.names[0]'])).toHaveLength(1)
  await withEcho(async (url) => {
    const echo = async (...args: string[]) => {
      const { code, out, err } = await api(...args, '--url', url)
      expect([code, err]).toEqual([0, ''])
      return JSON.parse(out) as { method: string; url: string; body: string; headers: Record<string, string> }
    }
    expect(await echo('/a')).toMatchObject({ method: 'GET', url: '/a', body: '' })
    expect(
      await echo('/a?x=1', '-X', 'get', '-f', 'b=c d', '-F', 'list[]=1', '-F', 'list[]=2'),
    ).toMatchObject({
      method: 'GET',
      url: '/a?x=1&b=c+d&list=1&list=2',
    })
    const posted = await echo('/a', '-f', 'text=1', '-F', 'number=1', '-F', 'flag=true', '-F', 'none=null')
    expect([posted.method, JSON.parse(posted.body)]).toEqual([
      'POST',
      { text: '1', number: 1, flag: true, none: null },
    ])
    const input = write('body.json', '{"a": 1}')
    expect(await echo('/a', '-X', 'PUT', '--input', input, '-f', 'q=1')).toMatchObject({
      method: 'PUT',
      url: '/a?q=1',
      body: '{"a": 1}',
    })
    const uploaded = await echo('/a', '--form', `file=@${input}`, '--form', 'note=hello')
    expect(uploaded.headers['content-type']).toContain('multipart/form-data')
    expect(uploaded.body).toMatch(/name="file"; filename="body\.json".*\{"a": 1\}.*name="note".*hello/s)
    const { headers } = await echo('/a', '-H', 'Accept: text/csv')
    expect([headers['accept'], headers['authorization']]).toEqual(['text/csv', `Bearer ${env['SVC_TOKEN']}`])
    expect(await api('/text', '--url', url)).toEqual({ code: 0, out: 'plain \u001b[2J', err: '' })
    expect((await svc(['api', '/text', '--url', url], { isTerminal: true })).out).toBe('plain \\u001b[2J')
    expect(await api('/empty', '--url', url)).toEqual({ code: 0, out: '', err: '' })
    expect((await api('/empty', '--include', '--url', url)).out).toMatch(/^HTTP 204\n/)
  })
})

test('the token is sent to no other host, and wrong usage is refused', async () => {
  for (const [args, text] of [
    [['https://evil.example/x'], 'Pass a path such as'],
    [['//evil.example/x'], 'Pass a path such as'],
    [['/../x'], 'Invalid request: path must start with one slash'],
    [['graphql'], 'The query is missing.'],
    [['graphql', '-f', 'query={ a }', '-X', 'GET'], 'always use POST'],
    [['/a', '-H', 'Authorization: Bearer x'], 'svc sends its own Authorization header.'],
    [['/a', '-X', 'TRACE'], 'Unknown method TRACE.'],
    [['/a', '--variables', 'x'], '--variables is only for GraphQL.'],
    [['/a', '-X', 'GET', '-f', 'a[b]=c'], 'cannot contain the nested field a'],
    [['/a', '-f', 'novalue'], 'Use key=value'],
    [['/a', '--select', '$['], 'is not a JSONPath expression'],
    [['/a', '--select', '$[?match(@.a, "(a+)+")]'], 'The function match is not supported.'],
    [['/a', '--paginate'], '--paginate needs a GraphQL query'],
  ] as const) {
    const { code, out, err } = await api(...args)
    expect([args, code, out, err]).toEqual([args, 2, '', expect.stringContaining(text)])
  }
})

test('pages of a connection are read to the end', async () => {
  await service.sql.query(
    `insert into tenants (id, project_id, name, slug) select gen_random_uuid(), $1, 'Many', 'many-' || lpad(n::text, 3, '0') from generate_series(1, 45) n`,
    [project.id],
  )
  const query = `query($after: String) { tenantsConnection(projectSlug: "main", filters: [{field: "name", value: "Many"}], pagination: {limit: 20, offset: 0}, after: $after) { nodes { slug } pageInfo { hasNextPage endCursor } } }`
  const slugs = Array.from({ length: 45 }, (_, index) => `many-${String(index + 1).padStart(3, '0')}`)
  const { code, out } = await api('graphql', '-f', `query=${query}`, '--paginate', '--select', '$..slug')
  expect([code, out.trim().split('\n').toSorted()]).toEqual([0, slugs])
  const pages = (await json(['api', 'graphql', '-f', `query=${query}`, '--paginate'])) as unknown[]
  expect(pages).toHaveLength(3)
  const selected = await json(['api', 'graphql', '-f', `query=${query}`, '--paginate', '--select', '$..slug'])
  expect((selected as string[]).toSorted()).toEqual(slugs)
  const without = query.replace('pageInfo { hasNextPage endCursor }', '')
  expect((await api('graphql', '-f', `query=${without}`, '--paginate')).err).toContain(
    'The response has no pageInfo.',
  )
  const constant = query.replace('after: $after)', 'after: null)').replace('{ nodes', '{ extra: nodes')
  expect((await api('graphql', '-f', `query=${constant}`, '--paginate')).code).not.toBe(0)
})

test('selected texts have no quotes, and other values are JSON', async () => {
  const query = 'query={ project(slug: "main") { slug environments { name protected } } }'
  const select = async (expression: string) => (await api('graphql', '-f', query, '-s', expression)).out
  expect(await select('$.data.project.slug')).toBe('main\n')
  expect(await select('$..environments[?@.name == "dev"]')).toBe('{"name":"dev","protected":false}\n')
  expect(await select('$.data.nothing')).toBe('')
})

test('--verbose shows requests and responses without secrets', async () => {
  const password = 'a very long partner password'
  const file = write('partner.password', password)
  const mutation =
    'mutation($app: ID!, $p: String!, $t: String!) { createEndpoint(applicationId: $app, input: {name: "traced", consumeURL: "/traced", authToken: $t, authPassword: $p, authUsername: "me"}) { id } }'
  const traced = await api(
    'graphql',
    '-v',
    '-f',
    `query=${mutation}`,
    '-f',
    `app=${project.applicationId}`,
    '-F',
    `p=@${file}`,
    '-f',
    't=another secret',
  )
  expect([traced.code, traced.err]).toEqual([
    0,
    expect.stringMatching(/^> POST http:.*\/query\n(> .*\n)+< 200.*\n(< .*\n)+$/),
  ])
  const create =
    'mutation($environment: ID!) { createMachineUserWithCredentials(environmentId: $environment, input: {name: "traced", hashedKey: "__GENERATE_TOKEN__"}) { t: generatedToken machineUser { id name } } }'
  const machine = await api(
    'graphql',
    '-v',
    '-f',
    `query=${create}`,
    '-f',
    `environment=${project.environmentId}`,
  )
  const { data } = JSON.parse(machine.out) as { data: { createMachineUserWithCredentials: { t: string } } }
  const { t: token } = data.createMachineUserWithCredentials
  expect(token.length).toBeGreaterThan(20)
  for (const secret of [env['SVC_TOKEN'] ?? '', password, 'another secret', token])
    expect((traced.err + machine.err).includes(secret)).toBe(false)
  expect(machine.err).toContain('"name":"traced"')
  expect(machine.err).toContain('> authorization: ***\n')
})

test('every field of the schema that contains a secret is hidden', () => {
  const schema = readFileSync(new URL('../../../docs/api/schema.graphql', import.meta.url), 'utf8')
  const secrets = [
    ...schema.matchAll(/"""[^"]*(?:cannot be read again|Write-only)[^"]*"""\s*(\w+): String/g),
  ].map(([, name = '']) => name)
  expect([...new Set(secrets)].toSorted()).toEqual([
    'authPassword',
    'authToken',
    'generatedToken',
    'link',
    'plaintextPassword',
    'token',
  ])
  const { body } = createMasking('', [])
  for (const name of [...secrets, 'hashedKey', 'callback_secret', 'refresh_token'])
    expect(body(JSON.stringify({ a: [{ [name]: 'hidden text' }] }))).toBe(
      JSON.stringify({ a: [{ [name]: '***' }] }),
    )
})

test('secrets are hidden in documents, queries, headers and pairs', () => {
  const {
    body,
    path: maskPath,
    header,
  } = createMasking('query($s: String) { a(token: $s) { x: link y: name } }', ['plain value'])
  const document = 'mutation { a(input: {authPassword: "x\\"y", authToken: """block""", name: "n"}) }'
  expect(body(JSON.stringify({ query: document }))).toBe(
    JSON.stringify({ query: 'mutation { a(input: {authPassword: "***", authToken: "***", name: "n"}) }' }),
  )
  expect(body('{"s":"1","x":"2","y":"3","tokenPrefix":"abc"}')).toBe(
    '{"s":"***","x":"***","y":"3","tokenPrefix":"abc"}',
  )
  expect(body('[{"Key":"mail.password","Value":"v"},{"Key":"color","Value":"red"}]')).toBe(
    '[{"Key":"mail.password","Value":"***"},{"Key":"color","Value":"red"}]',
  )
  expect(body('not JSON, plain value')).toBe('not JSON, ***')
  expect(maskPath('/a?token=x&b=plain value')).toBe('/a?token=***&b=***')
  expect(
    ['authorization', 'set-cookie', 'x-token-user', 'x-api-key', 'accept'].map((name) => header(name, 'v')),
  ).toEqual(['***', '***', '***', '***', 'v'])
})

test('fields have nested names and types', async () => {
  const read = async (...texts: string[]) => {
    const { values } = await readFields(
      texts.map((text) => parseField(text, true)),
      async () => 'file text',
    )
    return JSON.parse(JSON.stringify(values)) as unknown
  }
  expect(await read('a[b][c]=1', 'a[b][d]=x', 'l[]=1', 'l[]=@f')).toEqual({
    a: { b: { c: 1, d: 'x' } },
    l: [1, 'file text'],
  })
  expect(await read('f[][field]=a', 'f[][value]=b', 'f[][field]=c')).toEqual({
    f: [{ field: 'a', value: 'b' }, { field: 'c' }],
  })
  expect(await read('n=12345678901234567890', 'o=01', 'p=-1.5', 'e=', 'q=a=b')).toEqual({
    n: '12345678901234567890',
    o: '01',
    p: -1.5,
    e: '',
    q: 'a=b',
  })
  for (const texts of [
    ['a=1', 'a=2'],
    ['a=1', 'a[b]=2'],
    ['a[]=1', 'a[b]=2'],
    ['a[b]=1', 'a[]=2'],
  ])
    await expect(read(...texts)).rejects.toThrow('does not fit the other fields')
  for (const text of ['=x', 'a[b=x', '[a]=x', 'a]=x'])
    expect(() => parseField(text, true)).toThrow('Invalid field')
  const { values } = await readFields([parseField('__proto__[polluted]=1', true)], async () => '')
  expect([Object.keys(values), ({} as { polluted?: unknown }).polluted]).toEqual([['__proto__'], undefined])
})
