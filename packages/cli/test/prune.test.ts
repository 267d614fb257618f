// Tests apply --prune: which objects it deletes, and that the plan lists each of them.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type Step, shop, useApply } from './kit/apply.ts'

const { svc, json, writeDocument } = useApply()
const linesOf = (out: string): string[] => out.split('\n').filter((line) => /^( {4})?- /.test(line))
const prune = (file: string, ...more: string[]) => svc(['apply', '-f', file, '--prune', ...more])

async function createShop(slug: string): Promise<string> {
  const { file } = writeDocument(slug)
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  return file
}

test('the plan lists every deletion, and nothing is deleted without a confirmation', async () => {
  await createShop('listed')
  const { file } = writeDocument(
    'listed-less',
    `
projects:
  - slug: listed
    name: Web shop
    environments: { dev: { machineUsers: [] } }
    applications: []
    languagePacks: []
    tenants: [{ slug: acme, name: Acme Ltd }]
`,
  )
  const plan = await prune(file, '--plan')
  expect([plan.code, linesOf(plan.out)]).toEqual([
    0,
    [
      '- app listed/web',
      '    - endpoint listed/web/orders',
      '    - caller of endpoint listed/web/orders - dev/billing',
      '    - trigger listed/web/nightly',
      '    - app of tenant listed/acme - web',
      '- language pack listed/de',
      '- machine user listed/dev/billing',
    ],
  ])
  expect(plan.out).toContain('0 to create, 0 to update, 7 to delete, 2 unchanged.\n')
  expect((await prune(file)).err).toContain('Pass --yes.')
  const asked = await svc(['apply', '-f', file, '--prune'], { isTerminal: true, input: 'n\n' })
  expect([asked.code, asked.err]).toEqual([
    1,
    expect.stringContaining('Apply 3 steps and delete 7 objects? [y/N] '),
  ])
  expect(await json(['apps', 'list', '-p', 'listed'])).toHaveLength(1)
  const { steps } = (await json(['apply', '-f', file, '--prune', '--plan'])) as { steps: Step[] }
  expect(steps[0]).toEqual({
    action: 'delete',
    kind: 'app',
    path: 'listed/web',
    changes: [],
    contents: [
      { kind: 'endpoint', path: 'listed/web/orders' },
      { kind: 'caller of endpoint', path: 'listed/web/orders - dev/billing' },
      { kind: 'trigger', path: 'listed/web/nightly' },
      { kind: 'app of tenant', path: 'listed/acme - web' },
    ],
  })
  // Without --prune, the same file deletes nothing.
  expect((await svc(['apply', '-f', file])).out).toContain('Nothing to do.')
  const applied = await prune(file, '--yes')
  expect([applied.code, applied.err]).toEqual([0, expect.stringContaining('- app listed/web: done\n')])
  expect(await json(['apps', 'list', '-p', 'listed'])).toEqual([])
  expect(await json(['tenants', 'list', '-p', 'listed'])).toHaveLength(1)
  expect((await prune(file)).out).toContain('Nothing to do.')
})

test('links that the file omits are deleted, and the objects stay', async () => {
  await createShop('linked')
  const text = shop('linked')
    .replace('callers: [dev/billing]', 'callers: []')
    .replace(/applications:\n {10}- slug: web\n.*\n$/, 'applications: []\n')
  const { file } = writeDocument('linked', text)
  expect(linesOf((await prune(file, '--plan')).out)).toEqual([
    '- caller of endpoint linked/web/orders - dev/billing',
    '- app of tenant linked/acme - web',
  ])
  expect((await prune(file, '--yes')).code).toBe(0)
  expect(linesOf((await prune(file, '--plan')).out)).toEqual([])
  expect((await svc(['machine-users', 'get', 'billing', '-p', 'linked', '-e', 'dev'])).code).toBe(0)
})

test('lists that the file omits or leaves empty without brackets are not compared', async () => {
  await createShop('omitted')
  for (const text of ['', '    tenants:\n', '    environments: { dev: {} }\n    applications:\n']) {
    const { file } = writeDocument('omitted', `projects:\n  - slug: omitted\n    name: Web shop\n${text}`)
    expect([text, (await prune(file)).out]).toEqual([text, expect.stringContaining('Nothing to do.')])
  }
})

test('other projects are never deleted', async () => {
  const { file } = writeDocument('none', 'projects: []')
  expect((await prune(file)).out).toContain('Nothing to do.')
  expect((await svc(['projects', 'get', 'main'])).code).toBe(0)
})

test('settings that the file declares are exact, and other layers keep theirs', async () => {
  await createShop('exact')
  await svc(['settings', 'update', '-p', 'exact', '--frontend-pair', 'extra=1', '--locales', 'de'])
  await svc(['settings', 'update', '-p', 'exact', '-a', 'web', '--frontend-pair', 'kept=1'])
  const { file } = writeDocument('exact')
  const { steps } = (await json(['apply', '-f', file, '--prune', '--plan'])) as { steps: Step[] }
  expect(steps.filter(({ action }) => action !== 'unchanged')).toEqual([
    {
      action: 'update',
      kind: 'settings',
      path: 'exact',
      changes: [
        { field: 'frontend.EnabledLocales', before: ['de'], after: [] },
        { field: 'frontend.pairs.extra', before: '1', after: null },
      ],
    },
  ])
  expect((await prune(file, '--yes')).code).toBe(0)
  expect(await json(['settings', 'get', '-p', 'exact'])).toMatchObject({
    backend: { KeyValuePairs: [{ Key: 'mail.from', Value: 'shop@example.com' }] },
    frontend: { EnabledLocales: [], KeyValuePairs: [] },
  })
  expect((await svc(['settings', 'get', '-p', 'exact', '-a', 'web', '-o', 'json'])).out).toContain('"kept"')
})

test('an object that the file refers to cannot be deleted', async () => {
  await createShop('needed')
  const { file } = writeDocument(
    'needed',
    'projects: [{ slug: needed, name: N, applications: [], tenants: [{ slug: acme, name: A, applications: [web] }] }]',
  )
  const { code, out, err } = await prune(file, '--yes')
  expect([code, out, err]).toEqual([
    2,
    '',
    'svc: --prune would delete the app needed/web, but tenant needed/acme refers to it. Add it to the file, or remove the reference.\n',
  ])
})

test('a renamed endpoint can have the path of the deleted one', async () => {
  await createShop('renamed')
  const { file } = writeDocument('renamed', shop('renamed').replace('name: orders', 'name: bills'))
  const applied = await prune(file, '--yes')
  expect([applied.code, applied.out]).toEqual([0, expect.stringContaining('- endpoint renamed/web/orders\n')])
  expect(await json(['endpoints', 'list', '-p', 'renamed', '-a', 'web'])).toMatchObject([{ name: 'bills' }])
})

test('an object that changed after the plan is not deleted', async () => {
  await createShop('raced')
  const { file } = writeDocument('raced', 'projects: [{ slug: raced, name: Web shop, tenants: [] }]')
  let other: Promise<unknown> = Promise.resolve()
  const stdin = new PassThrough()
  const { code, err } = await svc(['apply', '-f', file, '--prune'], {
    isTerminal: true,
    input: stdin,
    onErr: (text) => {
      if (!text.endsWith('[y/N] ')) return
      const update = ['tenants', 'update', 'acme', '-p', 'raced', '--name', 'Theirs']
      other = svc(update).finally(() => stdin.end('y\n'))
    },
  })
  await other
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/tenant raced\/acme failed; completed 0 of 1 steps.*revision/s),
  ])
  expect(await json(['tenants', 'get', 'acme', '-p', 'raced'])).toMatchObject({ name: 'Theirs' })
})

test('the callers of a deleted machine user are listed, even if the file omits their endpoint', async () => {
  await createShop('called')
  const { file } = writeDocument(
    'called',
    'projects: [{ slug: called, name: Web shop, environments: { dev: { machineUsers: [] } } }]',
  )
  expect(linesOf((await prune(file, '--plan')).out)).toEqual([
    '- machine user called/dev/billing',
    '    - caller of endpoint called/web/orders - dev/billing',
  ])
})
