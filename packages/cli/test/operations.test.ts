// Tests settings, ESB previews, trigger runs and the audit trail.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { expect, test } from 'vitest'
import { useSvc } from './kit/svc.ts'

const { service, project, folder, svc, json } = useSvc()
const pair = ['-p', 'main', '--tenant', 'main-tenant', '--app', 'main-app']

test('settings of a layer are changed and cleared, and what holds names its layer', async () => {
  const update = (...args: string[]) => svc(['settings', 'update', ...args])
  expect(
    (
      await update(
        '-p',
        'main',
        '--modules',
        'cart, search',
        '--frontend-pair',
        'color=red',
        '--frontend-pair',
        'size=1=2',
      )
    ).code,
  ).toBe(0)
  expect((await update('-p', 'main', '--frontend-pair', 'color=green')).code).toBe(0)
  expect((await update('-p', 'main', '--app', 'main-app', '--default-theme', 'dark')).code).toBe(0)
  expect((await update(...pair.slice(0, 4), '--locales', 'de,en')).code).toBe(0)
  expect((await svc(['settings', 'get', ...pair])).code).toBe(4)
  expect((await update(...pair, '--frontend-pair', 'color=blue')).code).toBe(0)
  expect(await json(['settings', 'get', '-p', 'main'])).toMatchObject({
    backend: { EnabledModules: ['cart', 'search'] },
    frontend: {
      KeyValuePairs: [
        { Key: 'color', Value: 'green' },
        { Key: 'size', Value: '1=2' },
      ],
    },
  })
  const { out } = await svc(['settings', 'effective', ...pair])
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['SETTING', 'VALUE', 'LAYER'],
    ['backend EnabledModules', 'cart, search', 'project'],
    ['frontend EnabledThemes', 'none'],
    ['frontend DefaultTheme', 'dark', 'application'],
    ['frontend EnabledLocales', 'de, en', 'tenant'],
    ['frontend DefaultLocale', 'none'],
    ['frontend color', 'blue', 'tenant2application'],
    ['frontend size', '1=2', 'project'],
    [''],
  ])
  expect(await svc(['settings', 'clear', ...pair])).toMatchObject({ code: 2, out: '' })
  expect((await svc(['settings', 'effective', ...pair])).out).toMatch(/frontend color +blue/)
  expect((await svc(['settings', 'clear', ...pair, '--yes'])).code).toBe(0)
  expect((await svc(['settings', 'effective', ...pair])).out).toMatch(/frontend color +green +project/)
  expect((await update('-p', 'main')).err).toContain('Nothing to change.')
})

test('layers have colours on a terminal, unless NO_COLOR is set', async () => {
  const effective = ['settings', 'effective', ...pair]
  const colored = await svc(effective, { isTerminal: true })
  expect(colored.out).toContain('\u001b[34mproject\u001b[0m')
  expect(colored.out).toContain('\u001b[36mapplication\u001b[0m')
  for (const plain of [
    await svc(effective),
    await svc(effective, { isTerminal: true, env: { NO_COLOR: '1' } }),
  ])
    expect(plain.out).not.toContain('\u001b')
  expect(await json(effective)).toMatchObject({ backend: { EnabledModules: { layer: 'project' } } })
})

test('an app is enabled for a tenant and taken from it', async () => {
  await svc(['tenants', 'create', 'acme', '--name', 'Acme', '-p', 'main'])
  const at = ['-p', 'main', '--tenant', 'acme', '--app', 'main-app']
  expect((await svc(['settings', 'update', ...at, '--themes', 'dark'])).err).toContain(
    'svc apps enable <app>',
  )
  const enabled = async () =>
    (
      await service.sql.query(
        `select r.enabled from tenant2applications r join tenants t on t.id = r.tenant_id where t.slug = 'acme'`,
      )
    ).rows
  expect((await svc(['apps', 'enable', 'main-app', '-p', 'main', '--tenant', 'acme'])).code).toBe(0)
  expect(await enabled()).toEqual([{ enabled: true }])
  expect((await svc(['apps', 'disable', 'main-app', '-p', 'main', '--tenant', 'acme'])).code).toBe(0)
  expect(await enabled()).toEqual([{ enabled: false }])
})

test('esb preview renders a body with the saved template or another one', async () => {
  const template = path.join(folder.path, 'orders.tmpl')
  writeFileSync(template, 'id {{ .Data.id }} {{ .Data.missing }}')
  const at = ['-p', 'main', '-a', 'main-app']
  const create = [
    'endpoints',
    'create',
    'orders',
    ...at,
    '--consume-url',
    '/orders',
    '--transformation-template',
    template,
  ]
  expect((await svc(create)).code).toBe(0)
  const shown = await svc(['esb', 'preview', 'orders', ...at], { input: '{"id": "x\\u001b[2J"}' })
  expect(shown).toMatchObject({ code: 0, out: 'id x\u001b[2J <no value>' })
  expect(shown.err).toMatch(/^content type: application\/json\nwarning: .*\n/)
  writeFileSync(template, '{{ .Data.id | toUpper }}')
  const body = path.join(folder.path, 'order.json')
  writeFileSync(body, '{"id": "a"}')
  const tried = await svc(['esb', 'preview', '/orders', ...at, '--template', template, '--body', body])
  expect(tried.out).toBe('A')
  writeFileSync(template, '{{ .Data.id ')
  expect((await svc(['esb', 'preview', 'orders', ...at, '--template', template, '--body', body])).code).toBe(
    1,
  )
})

test('trigger runs shows what became of each', async () => {
  await svc(['triggers', 'create', 'nightly', '--cron-expression', '@daily', '-p', 'main', '-a', 'main-app'])
  const runs = ['trigger', 'runs', 'nightly', '-p', 'main', '-a', 'main-app']
  expect((await svc(runs)).err).toBe('Nothing found.\n')
  await service.sql.query(
    `insert into trigger_runs (id, project_id, application_id, trigger_id, environment_id, scheduled_at, outcome, trigger_name, cron_expression, run_key)
     select gen_random_uuid(), $1, t.application_id, t.id, $2, now(), 'missed', t.name, t.cron_expression, t.run_key from triggers t where t.name = 'nightly'`,
    [project.id, project.environmentId],
  )
  expect(await json(runs)).toMatchObject([{ environment: 'dev', outcome: 'missed' }])
  expect((await svc([...runs, '--limit', '101'])).code).toBe(2)
})

test('audit list shows who did what in a project', async () => {
  const rows = (await json(['audit', 'list', '-p', 'main', '--filter', 'entityType=trigger'])) as object[]
  expect(rows).toMatchObject([{ action: 'create', user: 'admin@example.com' }])
})

test('audit export streams the trail to standard output or into a file of mode 600', async () => {
  const { code, out } = await svc(['audit', 'export', '-p', 'main'])
  expect(code).toBe(0)
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { export?: { count: number; digest: string } })
  expect(lines.at(-1)?.export?.count).toBe(lines.length - 1)
  const body = out.slice(0, out.lastIndexOf('\n', out.length - 2) + 1)
  // The streamed bytes are exactly the bytes that the Manager signed.
  expect(lines.at(-1)?.export?.digest).toContain(createHash('sha256').update(body).digest('hex'))

  const here = path.join(folder.path, 'trail')
  const [file, other] = [path.join(here, 'trail.csv'), path.join(here, 'other')]
  mkdirSync(here)
  // Another user may have created a link with a predictable name.
  writeFileSync(other, 'as it was')
  symlinkSync(other, `${file}.part`)
  const written = await svc([
    'audit',
    'export',
    '--format',
    'csv',
    '--entity-type',
    'trigger',
    '--file',
    file,
  ])
  expect([written.code, written.out, written.err]).toEqual([0, '', `Wrote ${file}.\n`])
  expect([statSync(file).mode & 0o777, readFileSync(file, 'utf8').trim().split('\n').length]).toEqual([
    0o600, 2,
  ])
  expect(readFileSync(other, 'utf8')).toBe('as it was')
  expect(readdirSync(here).toSorted()).toEqual(['other', 'trail.csv', 'trail.csv.part'])
  const wrong = await svc(['audit', 'export', '--from', 'yesterday'])
  expect([wrong.code, wrong.err]).toEqual([
    1,
    expect.stringMatching(/^svc: The Manager rejected the request: .*from/),
  ])
})

test('audit export on a terminal shows an incomplete character at the end of the body', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(Buffer.from([0x61, 0xc3]))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, out } = await svc(['audit', 'export', '--url', url], { isTerminal: true })
    expect([code, out]).toEqual([0, 'a\ufffd'])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
