// Tests list, get, create, update and delete for every resource, and the output formats.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { expect, test } from 'vitest'
import { bearer, call } from '@manager/harness/credentials.ts'
import { formatTable } from '../src/output.ts'
import { resources } from '../src/resources/all.ts'
import { useSvc } from './kit/svc.ts'

const { service, project, env, folder, svc, json } = useSvc()
const file = (name: string, text?: string): string => {
  const named = path.join(folder.path, name)
  if (text !== undefined) writeFileSync(named, text)
  return named
}
const app = ['-p', 'main', '-a', 'main-app']
const dev = ['-p', 'main', '-e', 'dev']

type Case = {
  kind: string
  key: string
  parent: string[]
  create: () => string[]
  update?: () => string[]
  becomes?: object
}
const cases: Case[] = [
  {
    kind: 'projects',
    key: 'second',
    parent: [],
    create: () => ['--name', 'Second'],
    update: () => ['--name', 'New'],
    becomes: { name: 'New' },
  },
  {
    kind: 'tenants',
    key: 'acme',
    parent: ['-p', 'main'],
    create: () => ['--name', 'Acme'],
    update: () => ['--deployment-mode', 'dedicated'],
    becomes: { name: 'Acme', deploymentMode: 'dedicated' },
  },
  {
    kind: 'apps',
    key: 'web',
    parent: ['-p', 'main'],
    create: () => ['--name', 'Web', '--description', 'A shop'],
    update: () => ['--description', ''],
    becomes: { description: '' },
  },
  {
    kind: 'machine-users',
    key: 'billing',
    parent: dev,
    create: () => ['--token-file', file('billing.token')],
    update: () => ['--enabled', 'false'],
    becomes: { enabled: false },
  },
  {
    kind: 'endpoints',
    key: 'orders',
    parent: app,
    create: () => [
      '--consume-url',
      '/orders',
      '--auth-type',
      'Basic',
      '--auth-username',
      'me',
      '--auth-password-file',
      file('password', 'secret\n'),
      '--transformation-template',
      file('template', '{{ .Data.id }}'),
    ],
    update: () => ['--target-url', 'https://erp.example.com', '--log-level', 'FULL'],
    becomes: {
      consumeURL: '/orders',
      url: 'https://erp.example.com',
      authType: 'Basic',
      transformationTemplate: '{{ .Data.id }}',
      logLevel: 'FULL',
    },
  },
  {
    kind: 'triggers',
    key: 'nightly',
    parent: app,
    create: () => ['--cron-expression', '0 3 * * *'],
    update: () => ['--cron-expression', '@daily', '--enabled', 'false'],
    becomes: { cronExpression: '@daily', enabled: false },
  },
  {
    kind: 'language-packs',
    key: 'de-AT',
    parent: ['-p', 'main'],
    create: () => [],
    update: () => ['--content', file('texts.yaml', 'cart:\n  title: Warenkorb\ncount: "3"\nactive: true\n')],
    becomes: {
      content: [
        { Key: 'cart.title', Value: 'Warenkorb' },
        { Key: 'count', Value: '3' },
        { Key: 'active', Value: 'true' },
      ],
    },
  },
  {
    kind: 'roles',
    key: 'support',
    parent: ['-p', 'main', '-t', 'main-tenant'],
    create: () => ['--permissions', 'apps.read'],
    update: () => ['--permissions', 'apps.read, members'],
    becomes: { permissions: ['apps.read', 'members'], seeded: false },
  },
  {
    kind: 'tokens',
    key: 'pipeline',
    parent: [],
    create: () => ['--token-file', file('pipeline.token'), '--expires-at', '2099-01-01T00:00:00Z'],
  },
]

test('every resource that can be created and deleted is tried here', () => {
  const creatable = resources.filter((one) => one.create && one.delete).map(({ name }) => name)
  expect(cases.map(({ kind }) => kind).toSorted()).toEqual(creatable.toSorted())
})

test.each(cases)(
  '$kind are created, found, changed and deleted',
  async ({ kind, key, parent, create, update, becomes }) => {
    const known = resources.find(({ name }) => name === kind)?.keys[0] ?? ''
    const created = await svc([kind, 'create', key, ...parent, ...create()])
    expect([created.err, created.out]).toEqual([
      expect.stringMatching(/^(Using .*\.\n)?$/),
      expect.stringMatching(new RegExp(`^Created .* ${key} \\([0-9a-f-]{36}\\)\\.`)),
    ])
    const found = (await json([kind, 'get', key, ...parent])) as Record<string, unknown>
    expect(found[known]).toBe(key)
    expect(await json([kind, 'get', String(found['id']), ...parent])).toEqual(found)
    expect(((await json([kind, 'list', ...parent])) as { id: string }[]).map(({ id }) => id)).toContain(
      found['id'],
    )
    // Tokens cannot be updated.
    const changed =
      update === undefined ? { code: 0 } : await svc([kind, 'update', key, ...parent, ...update()])
    expect(changed.code).toBe(0)
    expect(await json([kind, 'get', key, ...parent])).toMatchObject(becomes ?? {})
    expect((await svc([kind, 'delete', key, ...parent])).err).toContain('Pass --yes.')
    expect((await svc([kind, 'delete', key, ...parent, '--yes'])).code).toBe(0)
    expect(await svc([kind, 'get', key, ...parent])).toEqual({
      code: 4,
      out: '',
      err: expect.stringMatching(
        /^svc: The .* does not exist, or you cannot see it\. See: svc .* list\n$/,
      ) as string,
    })
  },
)

test('a token goes into a file of mode 600 and nowhere else, and works', async () => {
  const token = file('worker.token')
  const { code, out, err } = await svc([
    'machine-users',
    'create',
    'worker',
    ...dev,
    '--token-file',
    token,
    '-o',
    'json',
  ])
  const written = readFileSync(token, 'utf8').trim()
  const using = 'Using project main, environment dev.\n'
  expect([code, err, statSync(token).mode & 0o777]).toEqual([0, using, 0o600])
  expect(out).not.toContain(written)
  const check = () => call(service.url, '/api/machine/check', bearer(written))
  expect((await check()).body).toMatchObject({ authenticated: true })

  // An existing file is never overwritten, and no machine user is created.
  const again = await svc(['machine-users', 'create', 'worker-2', ...dev, '--token-file', token])
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('may contain a secret in use')])
  expect((await svc(['machine-users', 'get', 'worker-2', ...dev])).code).toBe(4)
  // Without a file, the token could not be stored.
  expect((await svc(['machine-users', 'create', 'worker-2', ...dev])).err).toContain('--token-file <file>')

  const next = file('next.token')
  expect((await svc(['machine-users', 'rotate', 'worker', ...dev, '--token-file', next, '--yes'])).code).toBe(
    0,
  )
  expect((await check()).body).toMatchObject({ authenticated: false })
  expect(readFileSync(next, 'utf8')).toMatch(/^[\w-]{43}\n$/)
})

test('what the Manager refuses ends with 1 and leaves no token file', async () => {
  const token = file('refused.token')
  const { code, err } = await svc(['machine-users', 'create', 'x'.repeat(101), ...dev, '--token-file', token])
  expect([code, err, existsSync(token)]).toEqual([
    1,
    expect.stringMatching(/^Using .*\.\nsvc: The Manager rejected the request: /),
    false,
  ])
})

test('a machine user with a password needs no token file', async () => {
  const password = file('basic.password', 'a long password of a machine\n')
  const args = [
    'machine-users',
    'create',
    'legacy',
    ...dev,
    '--username',
    'legacy',
    '--password-file',
    password,
  ]
  const { code, out } = await svc([...args, '-o', 'json'])
  expect([code, JSON.parse(out)]).toMatchObject([0, { username: 'legacy', tokenPrefix: null }])
  expect(out).not.toContain('a long password')
})

test('results are a table, JSON or YAML', async () => {
  const table = await svc(['environments', 'list', '-p', 'main'])
  expect(table.out.split('\n').slice(0, 2)).toEqual([
    'NAME  DISPLAY NAME  PROTECTED  ID',
    `dev   Development   false      ${project.environmentId}`,
  ])
  const one = await svc(['environments', 'get', 'dev', '-p', 'main'])
  expect(one.out).toContain('displayName  Development\n')
  const asJson = await json(['environments', 'list', '-p', 'main'])
  const asYaml = await svc(['environments', 'list', '-p', 'main', '--output', 'yaml'])
  expect(parse(asYaml.out)).toEqual(asJson)
  expect((await svc(['apps', 'list', '-p', 'main', '--filter', 'slug=none'])).err).toBe('Nothing found.\n')
  expect((await svc(['apps', 'list', '-p', 'main', '--filter', 'slug=none', '-o', 'json'])).out).toBe('[]\n')
})

test('lists take filters, order and a limit over many pages', async () => {
  await service.sql.query(
    `insert into tenants (id, project_id, name, slug) select gen_random_uuid(), $1, 'Many', 'many-' || lpad(n::text, 3, '0') from generate_series(1, 230) n`,
    [project.id],
  )
  const list = ['tenants', 'list', '-p', 'main', '--filter', 'name=many', '--sort', 'slug:desc']
  const rows = (await json(list)) as { slug: string }[]
  expect([rows.length, rows[0]?.slug, rows.at(-1)?.slug]).toEqual([230, 'many-230', 'many-001'])
  const few = await svc([...list, '--limit', '120'])
  expect(few.out.trim().split('\n')).toHaveLength(121)
  expect(few.err).toBe('Showing the first 120 rows. Use --filter or --limit to see others.\n')
  const ambiguous = await svc(['tenants', 'get', 'Many', '-p', 'main'])
  expect([ambiguous.code, ambiguous.err]).toEqual([
    2,
    expect.stringContaining('230 tenants are named Many. Use an id: '),
  ])
  expect(await json(['tenants', 'get', 'many-007', '-p', 'main'])).toMatchObject({ name: 'Many' })
})

test('a table may have very many rows', () => {
  const rows = Array.from({ length: 300_000 }, (_, index) => [String(index), 'x'])
  const lines = formatTable(['N', 'X'], rows)
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([300_001, 'N       X', '299999  x'])
})

test.each([
  ['version: 1.10\n', 'version: expected a string; put the value in quotes.'],
  ['{"id": 12345678901234567890}', 'id: expected a string; put the value in quotes.'],
  ['a.b: x\na:\n  b: y\n', 'a.b occurs more than once.'],
  ['1.10: x\n', 'the key 1.10 is a number; put it in quotes.'],
])('texts that would become others are refused: %j', async (text, problem) => {
  const named = file('rewritten.yaml', text)
  const { code, err } = await svc(['language-packs', 'update', 'any', '-p', 'main', '--content', named])
  expect([code, err]).toEqual([2, `svc: rewritten.yaml: ${problem}\n`])
})

test('a project is named by --project or SVC_PROJECT, by slug or id', async () => {
  expect((await svc(['tenants', 'list'])).err).toBe(
    'svc: The project is missing. Pass --project <slug or id>, set SVC_PROJECT, or link this folder: svc link --project <project>\n',
  )
  expect((await svc(['tenants', 'get', 'main-tenant'], { env: { SVC_PROJECT: 'main' } })).code).toBe(0)
  expect((await svc(['tenants', 'get', 'main-tenant', '-p', project.id])).code).toBe(0)
  expect((await svc(['triggers', 'list', '-a', project.applicationId])).code).toBe(0)
  expect((await svc(['tenants', 'list', '-p', 'none'])).code).toBe(4)
})

test('texts of others do not steer a terminal: what would is shown by its escape', async () => {
  const directions = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'.split('')
  const name = `safe\u202eevil${directions.join('')}`
  await service.sql.query('update applications set description = $1 where id = $2', [
    '\u009b31mred\u001b[2J',
    project.applicationId,
  ])
  await service.sql.query('update applications set name = $1 where id = $2', [name, project.applicationId])
  // oxlint-disable-next-line no-control-regex -- these characters must not occur
  const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
  for (const format of ['table', 'json', 'yaml']) {
    const { code, out } = await svc(['apps', 'get', 'main-app', '-p', 'main', '-o', format], {
      isTerminal: true,
    })
    expect([code, out]).toEqual([0, expect.not.stringMatching(unsafe)])
  }
  const shown = directions.map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
  for (const command of ['list', 'get main-app'])
    expect((await svc(['apps', ...command.split(' '), '-p', 'main'], { isTerminal: true })).out).toContain(
      String.raw`safe\u202eevil${shown.join('')}`,
    )
  for (const [format, read] of [
    ['json', (text: string) => JSON.parse(text) as unknown],
    ['yaml', (text: string) => parse(text) as unknown],
  ] as const) {
    const { out } = await svc(['apps', 'get', 'main-app', '-p', 'main', '-o', format])
    expect(read(out)).toMatchObject({ name, description: '\u009b31mred\u001b[2J' })
  }
  // Errors and prompts are escaped too, including those of the argument parser.
  const hostile = '\u001b[2J\u2066x\u061c'
  for (const args of [
    ['apps', 'get', hostile, '-p', 'main'],
    ['apps', hostile],
    ['apps', 'list', '-p', 'main', '--filter', `${hostile}=1`],
  ]) {
    const { code, err } = await svc(args, { isTerminal: true })
    expect([args, code > 0, err]).toEqual([args, true, expect.not.stringMatching(unsafe)])
    expect(err).toContain(String.raw`\u2066`)
  }
})

test('on a terminal it asks before it deletes', async () => {
  await svc(['tenants', 'create', 'asked', '--name', 'Asked', '-p', 'main'])
  const no = await svc(['tenants', 'delete', 'asked', '-p', 'main'], { isTerminal: true, input: 'n\n' })
  expect([no.code, no.err]).toEqual([
    1,
    expect.stringMatching(/Delete tenant asked \([0-9a-f-]+\)\? \[y\/N\] .*Nothing was changed\.\n$/s),
  ])
  // Closing the input, as Ctrl-D does, counts as "no".
  const closed = await svc(['tenants', 'delete', 'asked', '-p', 'main'], { isTerminal: true })
  expect([closed.code, closed.err]).toEqual([
    1,
    expect.stringMatching(/\[y\/N\] .*\nsvc: Nothing was changed\.\n$/s),
  ])
  const yes = await svc(['tenants', 'delete', 'asked', '-p', 'main'], { isTerminal: true, input: 'y\n' })
  expect([yes.code, yes.out]).toEqual([0, 'Deleted tenant asked.\n'])
})

test('a token sent past the proxy is refused with what to do', async () => {
  const { code, err } = await svc(['whoami'], { env: { SVC_URL: service.url } })
  expect([code, err]).toEqual([
    3,
    expect.stringContaining('Use the address of the proxy, not of the Manager.'),
  ])
  expect(err).not.toContain(env['SVC_TOKEN'] ?? '')
})
