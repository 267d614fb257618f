// Tests the messages of svc: articles, plurals, names of changed objects, and the accepted times and
// addresses.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Command } from 'commander'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { register } from '@manager/harness/backends.ts'
import { createProgram } from '../src/program.ts'
import { parseTime } from '../src/times.ts'
import { formatCount, addArticle } from '../src/words.ts'
import { svcAt, useSvc } from './kit/svc.ts'

const { service, project, env, folder, svc, json } = useSvc()

function descriptionsOf(command: Command): string[] {
  return [command.description(), ...command.commands.flatMap(descriptionsOf)]
}
const descriptions = descriptionsOf(await createProgram({} as Parameters<typeof createProgram>[0]))

test('a noun has the article that its first letter needs', () => {
  expect(descriptions).toContain('Create an app.')
  expect(descriptions).toContain('Change an endpoint. Other fields are kept.')
  expect(descriptions).toContain('Delete an app and everything in it.')
  expect(descriptions).toContain('Create a machine user.')
  expect(descriptions.filter((text) => /\ba (?!use)[aeiou]/i.test(text))).toEqual([])
  expect(['app', 'token', 'user'].map(addArticle)).toEqual(['an app', 'a token', 'a user'])
})

test('only what has something in it is deleted with everything in it', () => {
  expect(descriptions.filter((text) => text.startsWith('Delete ')).toSorted()).toEqual([
    'Delete a deployment.',
    'Delete a language pack.',
    'Delete a machine user.',
    'Delete a project and everything in it.',
    'Delete a role.',
    'Delete a tenant and everything in it.',
    'Delete a token.',
    'Delete a trigger.',
    'Delete an app and everything in it.',
    'Delete an endpoint.',
  ])
})

test('one is not many', () => {
  expect([formatCount(0, 'step'), formatCount(1, 'step'), formatCount(2, 'step')]).toEqual([
    '0 steps',
    '1 step',
    '2 steps',
  ])
})

test('--url names the Manager alone: it is not taken for the url of an endpoint, and nothing is sent there', async () => {
  const at = ['-p', 'main', '-a', 'main-app', '--url', 'http://127.0.0.1:1']
  for (const args of [
    ['endpoints', 'create', 'orders', '--consume-url', '/orders', ...at],
    ['endpoints', 'update', 'orders', '--enabled', 'false', ...at],
  ]) {
    const { code, err } = await svc(args)
    expect([code, err]).toEqual([
      2,
      'svc: --url is the address of the Manager, not of the endpoint. Use --target-url for the endpoint, and SVC_URL or --profile for the Manager.\n',
    ])
  }
  // The option --url works for other commands.
  expect(
    (await svc(['endpoints', 'list', '-p', 'main', '-a', 'main-app', '--url', env['SVC_URL'] ?? ''])).code,
  ).toBe(0)
  expect((await svc(['endpoints', 'list', ...at])).code).toBe(5)
})

test('a change of settings says whose settings they are', async () => {
  const both = ['-p', 'main', '-t', 'main-tenant', '-a', 'main-app']
  for (const [args, whose] of [
    [['-p', 'main'], 'project main'],
    [['-p', 'main', '-t', 'main-tenant'], 'tenant main-tenant'],
    [['-p', project.id, '-a', 'main-app'], 'app main-app'],
    [both, 'app main-app for tenant main-tenant'],
  ] as const) {
    expect((await svc(['settings', 'update', ...args, '--frontend-pair', 'a=b'])).out).toBe(
      `Updated settings of ${whose}.\n`,
    )
    const asked = await svc(['settings', 'clear', ...args], { isTerminal: true, input: 'y\n' })
    expect([asked.out, asked.err]).toEqual([
      `Cleared settings of ${whose}.\n`,
      expect.stringContaining(`Clear the settings of ${whose}? [y/N] `),
    ])
  }
})

test('a default locale or theme must be enabled, in the layer itself or in the nearest one above', async () => {
  const update = async (...args: string[]) => {
    const { err, ...rest } = await svc(['settings', 'update', ...args])
    // The line shows that a write started: the settings of an app in a tenant are created before they are checked.
    return { ...rest, err: err.replace(/^Using .*\.\n/, '') }
  }
  const tenant = ['-p', 'main', '-t', 'main-tenant']
  const both = [...tenant, '-a', 'main-app']
  const refused = (what: string, value: string, list: string) => ({
    code: 2,
    out: '',
    err: `svc: The default ${what} ${value} is not enabled. Enable it, or use one of: ${list}.\n`,
  })
  // Any default is accepted if no list is set.
  expect((await update(...both, '--default-locale', 'fr')).code).toBe(0)
  expect((await svc(['settings', 'clear', ...both, '--yes'])).code).toBe(0)
  expect(await update('-p', 'main', '--locales', 'de,en', '--default-locale', 'fr')).toEqual(
    refused('locale', 'fr', 'de, en'),
  )
  expect((await update('-p', 'main', '--locales', 'de,en', '--default-locale', 'en')).code).toBe(0)
  for (const layer of [['-p', 'main'], tenant, both])
    expect(await update(...layer, '--default-locale', 'fr')).toEqual(refused('locale', 'fr', 'de, en'))
  expect(await update('-p', 'main', '--locales', 'de')).toEqual(refused('locale', 'en', 'de'))
  expect(await update('-p', 'main', '--themes', 'light', '--default-theme', 'dark')).toEqual(
    refused('theme', 'dark', 'light'),
  )
  expect((await update(...tenant, '--locales', 'fr', '--default-locale', 'fr')).code).toBe(0)
  expect((await update(...both, '--default-locale', 'fr')).code).toBe(0)
  expect(await update(...both, '--default-locale', 'de')).toEqual(refused('locale', 'de', 'fr'))
  expect(await json(['settings', 'get', '-p', 'main'])).toMatchObject({
    frontend: { EnabledLocales: ['de', 'en'], DefaultLocale: 'en', EnabledThemes: [], DefaultTheme: '' },
  })

  const file = path.join(folder.path, 'locales.yaml')
  writeFileSync(file, 'projects: [{ slug: main, name: main, settings: { frontend: { defaultLocale: it } } }]')
  const { code, err } = await svc(['apply', '-f', file, '--yes'])
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/^svc: settings main: The default locale it is not enabled\./),
  ])
})

test('audit list names who acted: people and machine users', async () => {
  await svc(['tenants', 'create', 'audited', '--name', 'Audited', '-p', 'main'])
  const machine = await seedMachineUser(service.sql, project)
  const body = { application_id: project.applicationId, callback_url: 'https://backend.example.com/' }
  expect((await register(service, machine.token, body)).status).toBe(201)
  const { out } = await svc(['audit', 'list', '-p', 'main'])
  const [head = '', ...lines] = out.split('\n')
  expect(head).toMatch(/^CREATED AT +ENTITY TYPE +ACTION +DESCRIPTION +PRINCIPAL TYPE +PRINCIPAL$/)
  expect(lines.find((line) => / tenant +create /.test(line))).toMatch(/ user +admin@example\.com$/)
  expect(lines.find((line) => line.includes('backendRegistration'))).toMatch(
    new RegExp(` machine_user +${machine.id}$`),
  )
  expect(
    await json(['audit', 'list', '-p', 'main', '--filter', 'entityType=backendRegistration']),
  ).toMatchObject([{ principalType: 'machine_user', principal: machine.id, user: null }])
})

test('a date stands for its first moment in UTC, wherever a time is accepted', async () => {
  expect(parseTime('2026-11-01')).toBe('2026-11-01T00:00:00Z')
  expect(parseTime('2026-11-01T12:00:00+01:00')).toBe('2026-11-01T12:00:00+01:00')
  const token = path.join(folder.path, 'dated.token')
  const created = await svc([
    'tokens',
    'create',
    'dated',
    '--token-file',
    token,
    '--expires-at',
    '2099-11-01',
  ])
  expect(created.code).toBe(0)
  const { expiresAt } = (await json(['tokens', 'get', 'dated'])) as { expiresAt: string }
  expect(Date.parse(expiresAt)).toBe(Date.UTC(2099, 10, 1))
  const from = (day: string) => svc(['audit', 'export', '--format', 'csv', '--from', day])
  const all = (await from('2000-01-01')).out.split('\n').length
  expect(all).toBeGreaterThan(2)
  const none = await svc(['audit', 'export', '--format', 'csv', '--from', '2000-01-01', '--to', '2000-01-02'])
  expect([none.code, none.out.trim().split('\n').length]).toEqual([0, 1])
  for (const day of ['2026-02-30', '2026-13-01', '2026-00-10']) {
    const { code, err } = await from(day)
    expect([day, code, err]).toEqual([day, 2, expect.stringContaining('The date does not exist.')])
  }
})

test('svc help prints the help of the program, or of the command that its words name', async () => {
  for (const words of [[], ['apps'], ['apps', 'create'], ['application', 'create'], ['help']])
    expect([words, await svcAt('/', ['help', ...words])]).toEqual([
      words,
      await svcAt('/', [...words, '--help']),
    ])
  expect((await svcAt('/', ['help'])).out).toMatch(/\nHelp .*help, completion/)
  expect(await svcAt('/', ['help', 'apps', 'crate'])).toEqual({
    code: 2,
    out: '',
    err: 'svc: Unknown command: svc apps crate. See: svc help\n',
  })
})
