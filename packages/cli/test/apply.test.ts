// Tests apply: the plan, its steps, and a second run without changes.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { bearer, call } from '@manager/harness/credentials.ts'
import { Failure } from '../src/failures.ts'
import { type Step, shop, useApply } from './kit/apply.ts'

const { service, svc, json, writeDocument, pendingSteps } = useApply()
const marksOf = (out: string): string[] => out.split('\n').filter((line) => /^[+~=] /.test(line))

test('it shows a plan, makes everything, and then has nothing to do', async () => {
  const { file, token } = writeDocument('whole')
  const plan = await svc(['apply', '-f', file, '--plan'])
  expect([plan.code, plan.err]).toEqual([0, ''])
  expect(marksOf(plan.out)).toEqual([
    '+ project whole',
    '~ settings whole',
    '+ machine user whole/dev/billing',
    '+ app whole/web',
    '+ endpoint whole/web/orders',
    '+ caller of endpoint whole/web/orders - dev/billing',
    '+ trigger whole/web/nightly',
    '+ language pack whole/de',
    '+ tenant whole/acme',
    '+ app of tenant whole/acme - web',
    '~ settings whole/acme - web',
  ])
  expect(plan.out).toContain('9 to create, 2 to update, 0 unchanged.\n')
  expect(plan.out).not.toContain('very secret')
  expect((await svc(['projects', 'get', 'whole'])).code).toBe(4)

  // Without a terminal, svc cannot prompt.
  const unasked = await svc(['apply', '-f', file])
  expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('Pass --yes.')])
  expect((await svc(['projects', 'get', 'whole'])).code).toBe(4)

  const applied = await svc(['apply', '-f', file, '--yes'])
  expect([applied.code, applied.out]).toEqual([0, expect.stringMatching(/Applied 11 steps\.\n$/)])
  const written = readFileSync(token, 'utf8').trim()
  expect([statSync(token).mode & 0o777, statSync(path.dirname(token)).mode & 0o777]).toEqual([0o600, 0o700])
  expect(applied.out + applied.err).not.toContain(written)
  expect((await call(service.url, '/api/machine/check', bearer(written))).body).toMatchObject({
    authenticated: true,
  })

  const again = await svc(['apply', '-f', file])
  expect([again.code, again.err, again.out]).toEqual([
    0,
    '',
    expect.stringMatching(/11 unchanged\.\nNothing to do\.\n$/),
  ])
  expect(marksOf(again.out).every((line) => line.startsWith('= '))).toBe(true)

  const at = ['-p', 'whole', '-a', 'web']
  expect(await json(['endpoints', 'get', 'orders', ...at])).toMatchObject({
    authType: 'Basic',
    transformationTemplate: '{{ .Data.id }}',
  })
  expect(await json(['language-packs', 'get', 'de', '-p', 'whole'])).toMatchObject({
    content: [{ Key: 'cart.title', Value: 'Warenkorb' }],
  })
  const effective = await svc(['settings', 'effective', ...at, '--tenant', 'acme'])
  expect(effective.out).toMatch(/frontend DefaultTheme +dark +tenant2application/)
})

test('what has drifted is updated, field by field, and nothing is deleted', async () => {
  const { file } = writeDocument(
    'drift',
    shop('drift').replace('          - slug: web\n', '$&            enabled: true\n'),
  )
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  const at = ['-p', 'drift', '-a', 'web']
  await svc(['triggers', 'update', 'nightly', ...at, '--cron-expression', '@hourly'])
  await svc(['tenants', 'update', 'acme', '-p', 'drift', '--name', 'Other'])
  await svc([
    'settings',
    'update',
    '-p',
    'drift',
    '--backend-pair',
    'mail.from=x',
    '--backend-pair',
    'own=stays',
    '--themes',
    '',
  ])
  await svc(['apps', 'disable', 'web', '-p', 'drift', '--tenant', 'acme'])
  await svc(['tenants', 'create', 'by-hand', '-p', 'drift', '--name', 'By hand'])
  expect(await pendingSteps(file)).toEqual([
    {
      action: 'update',
      kind: 'settings',
      path: 'drift',
      changes: [
        { field: 'backend.pairs.mail.from', before: 'x', after: 'shop@example.com' },
        { field: 'frontend.EnabledThemes', before: [], after: ['light', 'dark'] },
      ],
    },
    {
      action: 'update',
      kind: 'trigger',
      path: 'drift/web/nightly',
      changes: [{ field: 'cronExpression', before: '@hourly', after: '0 3 * * *' }],
    },
    {
      action: 'update',
      kind: 'tenant',
      path: 'drift/acme',
      changes: [{ field: 'name', before: 'Other', after: 'Acme Ltd' }],
    },
    {
      action: 'update',
      kind: 'app of tenant',
      path: 'drift/acme - web',
      changes: [{ field: 'enabled', before: false, after: true }],
    },
  ])
  const shown = await svc(['apply', '-f', file, '--plan'])
  expect(shown.out).toContain('~ tenant drift/acme\n    name: "Other" -> "Acme Ltd"\n')
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  expect(await pendingSteps(file)).toEqual([])
  expect((await svc(['tenants', 'get', 'by-hand', '-p', 'drift'])).code).toBe(0)
  expect((await svc(['settings', 'get', '-p', 'drift', '-o', 'json'])).out).toContain('"stays"')
  // Secrets cannot be compared, so they are sent again only with --secrets.
  const secrets = (await json(['apply', '-f', file, '--plan', '--secrets'])) as { steps: Step[] }
  expect(secrets.steps.filter(({ action }) => action === 'update').map(({ changes }) => changes)).toEqual([
    [{ field: 'authPassword', file: 'erp.password', before: '(secret)', after: '(secret)' }],
  ])
})

test('interrupted between two steps it says so, and the next run goes on', async () => {
  const { file, token } = writeDocument('halted')
  const controller = new AbortController()
  const halted = await svc(['apply', '-f', file, '--yes'], {
    signal: controller.signal,
    onErr: (text) => {
      if (text.includes('+ app halted/web: done'))
        controller.abort(new Failure('interrupted', 'Interrupted.'))
    },
  })
  expect([halted.code, halted.err]).toEqual([
    130,
    expect.stringContaining('svc: Interrupted: completed 4 of 11 steps. Run the command again to resume.\n'),
  ])
  const before = readFileSync(token, 'utf8')
  expect((await pendingSteps(file)).map(({ kind }) => kind)).toEqual([
    'endpoint',
    'caller of endpoint',
    'trigger',
    'language pack',
    'tenant',
    'app of tenant',
    'settings',
  ])
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  expect([await pendingSteps(file), readFileSync(token, 'utf8')]).toEqual([[], before])
})

test('ended by SIGTERM between two steps it ends with 143', async () => {
  const { file } = writeDocument('ended')
  const controller = new AbortController()
  const { code } = await svc(['apply', '-f', file, '--yes'], {
    signal: controller.signal,
    onErr: (text) => {
      if (text.includes('+ project ended: done')) controller.abort(new Failure('terminated', 'Interrupted.'))
    },
  })
  expect(code).toBe(143)
})

test('what is in the Manager and not in the file can be named, and stays as it is', async () => {
  const { file: whole } = writeDocument('parted')
  expect((await svc(['apply', '-f', whole, '--yes'])).code).toBe(0)
  const { file } = writeDocument(
    'parted-more',
    `
projects:
  - slug: parted
    name: Web shop
    applications:
      - slug: second
        name: Second
        endpoints: [{ name: bills, consumeURL: /bills, callers: [dev/billing] }]
    tenants:
      - { slug: acme, name: Acme Ltd, applications: [web] }
      - { slug: globex, name: Globex, applications: [web, second] }
`,
  )
  expect((await pendingSteps(file)).map(({ path: which }) => which)).toEqual([
    'parted/second',
    'parted/second/bills',
    'parted/second/bills - dev/billing',
    'parted/globex',
    'parted/globex - web',
    'parted/globex - second',
  ])
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  expect(await pendingSteps(file)).toEqual([])
  await svc(['apps', 'disable', 'web', '-p', 'parted', '--tenant', 'globex'])
  await service.sql.query(
    `update machine_user2endpoints r set enabled = false from endpoints e where e.id = r.endpoint_id and e.name = 'bills'`,
  )
  expect(await pendingSteps(file)).toEqual([])
})

test.each([
  ['tenants: [{ slug: t, name: T, applications: [nowhere] }]', 'app', 'nowhere'],
  [
    'applications: [{ slug: w, name: W, endpoints: [{ name: e, consumeURL: /e, callers: [qas/nobody] }] }]',
    'machine user',
    'qas/nobody',
  ],
])('%s names what is nowhere, and nothing is made', async (text, kind, missing) => {
  for (const slug of ['nowhere', 'main']) {
    const { file } = writeDocument('nowhere', `projects: [{ slug: ${slug}, name: Changed, ${text} }]`)
    const { code, out, err } = await svc(['apply', '-f', file, '--yes'])
    expect([code, out, err]).toEqual([
      2,
      '',
      `svc: The ${kind} ${slug}/${missing} is not in the file, and it does not exist in the Manager or you cannot see it.\n`,
    ])
  }
  expect((await svc(['projects', 'get', 'nowhere'])).code).toBe(4)
  expect(await json(['projects', 'get', 'main'])).not.toMatchObject({ name: 'Changed' })
})

test('on a terminal it asks, and no is no', async () => {
  const { file } = writeDocument('asked')
  const no = await svc(['apply', '-f', file], { isTerminal: true, input: '\n' })
  expect([no.code, no.err]).toEqual([
    1,
    expect.stringMatching(/Apply 11 steps\? \[y\/N\] .*Nothing was changed\.\n$/s),
  ])
  expect(no.out).toContain('\u001b[32m+ project asked\u001b[0m')
  expect((await svc(['projects', 'get', 'asked'])).code).toBe(4)
  expect((await svc(['apply', '-f', file], { isTerminal: true, input: 'yes\n' })).code).toBe(0)
})

test.each([
  ['nonsense: 1', /unknown key nonsense\. Known keys: projects\./],
  ['projects: {}', /projects: expected a list\./],
  ['projects: [{ slug: a }]', /projects\[0\]: name is missing\./],
  ['projects: [{ slug: a, nmae: b }]', /projects\[0\]: unknown key nmae\. Known keys: slug, name,/],
  ['projects: [{ slug: a, name: b }, { slug: a, name: c }]', /projects: a occurs more than once\./],
  [
    'projects: [{ slug: a, name: b, environments: { prod: {} } }]',
    /environments\.prod: unknown environment; use dev, qas or run\./,
  ],
  [
    'projects: [{ slug: a, name: b, tenants: [{ slug: 1, name: x }] }]',
    /tenants\[0\]\.slug: expected a non-empty string; put the value in quotes\./,
  ],
  [
    'projects: [{ slug: a, name: b, tenants: [{ slug: t, name: x, deploymentMode: big }] }]',
    /expected one of shared, dedicated\./,
  ],
  [
    'projects: [{ slug: a, name: b, settings: { backend: { modules: x } } }]',
    /settings\.backend\.modules: expected a list\./,
  ],
  ['a: [', /is not valid YAML/],
  [
    'projects: [{ slug: a, name: b, applications: [{ slug: w, name: w, endpoints: [{ name: e, consumeURL: /e, authTokenFile: null }] }] }]',
    /endpoints\[0\]\.authTokenFile: expected a non-empty string\./,
  ],
  [
    'projects: [{ slug: a, name: b, applications: [{ slug: w, name: w, endpoints: [{ name: e, consumeURL: /e, authPasswordFile: 17 }] }] }]',
    /endpoints\[0\]\.authPasswordFile: expected a non-empty string; put the value in quotes\./,
  ],
  [
    'projects: [{ slug: a, name: b, applications: [{ slug: w, name: w, endpoints: [{ name: e, consumeURL: /e, transformationTemplate: x, transformationTemplateFile: orders.tmpl }] }] }]',
    /write either transformationTemplate or transformationTemplateFile, not both\./,
  ],
  [
    'projects: [{ slug: a, name: b, applications: [{ slug: w, name: w, endpoints: [{ name: e, consumeURL: /e, callers: [dev/a, dev/a] }] }] }]',
    /endpoints\[0\]: a\/dev\/a occurs more than once\./,
  ],
  [
    'projects: [{ slug: a, name: b, environments: { dev: { machineUsers: [{ name: m, username: u }] } } }]',
    /machineUsers\[0\]: passwordFile is missing/,
  ],
  [
    'projects: [{ slug: a, name: b, environments: { dev: { machineUsers: [{ name: m, passwordFile: erp.password }] } } }]',
    /machineUsers\[0\]: username is missing/,
  ],
  [
    'projects: [{ slug: a, name: b, settings: { backend: { pairs: { version: 1.10 } } } }]',
    /backend\.pairs: version: expected a string; put the value in quotes\./,
  ],
  [
    'projects: [{ slug: a, name: b, settings: { backend: { pairs: { a.b: x, a: { b: y } } } } }]',
    /backend\.pairs: a\.b occurs more than once\./,
  ],
  [
    'projects: [{ slug: a, name: b, languagePacks: [{ name: de, content: { 1.10: x } }] }]',
    /the key 1\.10 is a number; put it in quotes\./,
  ],
])('%s is refused before anything is asked', async (text, problem) => {
  const { file } = writeDocument('wrong', text)
  const { code, out, err } = await svc(['apply', '-f', file, '--yes'], {
    env: { SVC_URL: 'http://127.0.0.1:1' },
  })
  expect([code, out, err]).toEqual([2, '', expect.stringMatching(problem)])
})

test('a step that is refused is named, with how far it came', async () => {
  const { file } = writeDocument('refused', shop('refused').replace('0 3 * * *', 'never'))
  const { code, err } = await svc(['apply', '-f', file, '--yes'])
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(
      /trigger refused\/web\/nightly failed; completed 6 of 11 steps\. Run the command again to resume\.\nsvc: The Manager rejected the request: /,
    ),
  ])
})

test('a change after the plan is not overwritten', async () => {
  const first = writeDocument('raced', 'projects: [{ slug: raced, name: First }]')
  expect((await svc(['apply', '-f', first.file, '--yes'])).code).toBe(0)
  const { file } = writeDocument('raced', 'projects: [{ slug: raced, name: Second }]')
  let other: Promise<unknown> = Promise.resolve()
  const stdin = new PassThrough()
  const { code, err } = await svc(['apply', '-f', file], {
    isTerminal: true,
    input: stdin,
    onErr: (text) => {
      if (!text.endsWith('[y/N] ')) return
      other = svc(['projects', 'update', 'raced', '--name', 'Theirs']).finally(() => stdin.end('y\n'))
    },
  })
  await other
  expect([code, err]).toEqual([1, expect.stringMatching(/project raced failed; .*revision/s)])
  expect(await json(['projects', 'get', 'raced'])).toMatchObject({ name: 'Theirs', revision: 2 })
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  expect(await json(['projects', 'get', 'raced'])).toMatchObject({ name: 'Second' })
})
