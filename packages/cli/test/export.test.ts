// Tests that an export has no secrets, is deterministic, and describes a project completely.
import path from 'node:path'
import { connect, graphql } from '@manager/client'
import { getSettingsDocument, updateFrontendModuleConfigDocument } from '@manager/client/documents'
import { parse } from 'yaml'
import { expect, test } from 'vitest'
import { serialize } from '../src/output.ts'
import { parseYaml } from '../src/yaml-text.ts'
import { shop, useApply } from './kit/apply.ts'
import { exportText, listSecretFiles, writeExport } from './kit/export.ts'
import { oddTexts } from './kit/odd-texts.ts'
import { RandomProject } from './kit/random-project.ts'

const { service, svc, json, env, folder, writeDocument } = useApply()

test('every text survives YAML, as a key and as a value', () => {
  for (const text of oddTexts) {
    const value = new Map([['projects', [new Map([[text, text]]), text]]])
    const parsed = parseYaml(serialize(value, 'yaml'), { name: 'test', maxAliasCount: 0 })
    expect(parsed).toEqual({ projects: [Object.fromEntries([[text, text]]), text] })
  }
})

test('an export has every object in a fixed order, and references instead of secrets', async () => {
  const { file } = writeDocument('whole')
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  const { code, out, err } = await svc(['export', '-p', 'whole'])
  expect([code, out]).toEqual([0, wholeExport])
  expect(err).toContain('Secrets are not exported. The file refers to 2 files below secrets/.')
  expect(await exportText(svc, 'whole')).toBe(out)
  expect(await json(['export', '-p', 'whole'])).toEqual(parse(out))
  expect((await svc(['apply', '-f', '-'], { input: out })).out).toMatch(
    / 0 to update, .*\nNothing to do\.\n$/s,
  )
  const asJson = (await svc(['export', '-p', 'whole', '-o', 'json'])).out
  expect((await svc(['diff', '-f', '-', '--prune'], { input: asJson })).code).toBe(0)
})

const wholeExport = `projects:
  - slug: whole
    name: Web shop
    settings:
      backend:
        modules:
          - cart
        pairs:
          mail.from: shop@example.com
      frontend:
        themes:
          - light
          - dark
        defaultTheme: light
    environments:
      dev:
        machineUsers:
          - name: billing
            enabled: true
            tokenFile: secrets/whole/machine-users/dev/billing.token
      qas:
        machineUsers: []
      run:
        machineUsers: []
    applications:
      - slug: web
        name: Shop
        description: ""
        settings: {}
        endpoints:
          - name: orders
            description: ""
            enabled: true
            consumeURL: /orders
            url: https://erp.example.com/orders
            authType: Basic
            authUsername: shop
            inputMessageType: null
            outputMessageType: null
            transformationTemplate: "{{ .Data.id }}"
            logLevel: BASIC
            callers:
              - machineUser: dev/billing
                enabled: true
            authPasswordFile: secrets/whole/endpoints/web/orders.password
        triggers:
          - name: nightly
            description: ""
            cronExpression: 0 3 * * *
            runKey: close-the-day
            enabled: true
    languagePacks:
      - name: de
        content:
          cart.title: Warenkorb
    tenants:
      - slug: acme
        name: Acme Ltd
        deploymentMode: dedicated
        settings: {}
        applications:
          - slug: web
            enabled: true
            settings:
              frontend:
                defaultTheme: dark
`

test('a random project returns from an empty project with the same text, and without its secrets', async () => {
  const connection = connect({ url: env['SVC_URL'] ?? '', token: env['SVC_TOKEN'] ?? '' })
  const project = new RandomProject(connection, 20_261_120)
  await project.create('odd')
  const text = await exportText(svc, 'odd')
  expect(project.secrets.length).toBeGreaterThan(2)
  for (const secret of [...project.secrets, env['SVC_TOKEN'] ?? '']) expect(text.includes(secret)).toBe(false)
  expect((await svc(['projects', 'delete', 'odd', '--yes'])).code).toBe(0)
  const file = writeExport(path.join(folder.path, 'odd'), text)
  const { code, err } = await svc(['apply', '-f', file, '--yes'])
  expect([code, err]).toEqual([0, expect.not.stringContaining('a new secret')])
  expect(await exportText(svc, 'odd')).toBe(text)
})

test('applying an export with --prune restores a changed project exactly', async () => {
  const { file } = writeDocument('restored')
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  const text = await exportText(svc, 'restored')
  const at = ['-p', 'restored', '-a', 'web']
  for (const args of [
    ['projects', 'update', 'restored', '--name', 'Other'],
    ['endpoints', 'update', 'orders', ...at, '--description', 'x', '--input-message-type', 'XML'],
    ['triggers', 'create', 'extra', ...at, '--cron-expression', '@daily'],
    ['apps', 'create', 'extra', '--name', 'Extra', '-p', 'restored'],
    ['tenants', 'create', 'extra', '--name', 'Extra', '-p', 'restored'],
    ['apps', 'enable', 'extra', '--tenant', 'acme', '-p', 'restored'],
    ['settings', 'update', '-p', 'restored', '--backend-pair', 'extra=1', '--locales', 'de'],
    ['settings', 'update', '-p', 'restored', '--tenant', 'acme', '--frontend-pair', 'extra=1'],
  ])
    expect([args, (await svc(args)).code]).toEqual([args, 0])
  expect(await exportText(svc, 'restored')).not.toBe(text)
  const restored = await svc(['apply', '-f', '-', '--prune', '--yes'], { input: text })
  expect([restored.code, await exportText(svc, 'restored')]).toEqual([0, text])
})

test('a disabled caller stays disabled', async () => {
  const { file } = writeDocument(
    'disabled',
    shop('disabled').replace('[dev/billing]', '[{ machineUser: dev/billing, enabled: false }]'),
  )
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  const { rows } = await service.sql.query(
    `select r.enabled, r.revision from machine_user2endpoints r join projects p on p.id = r.project_id where p.slug = 'disabled'`,
  )
  // The caller was never enabled, not even for a moment.
  expect(rows).toEqual([{ enabled: false, revision: 1 }])
  expect(await exportText(svc, 'disabled')).toContain(
    'machineUser: dev/billing\n                enabled: false\n',
  )
})

test('names that are not file names have separate secret files', async () => {
  const names = ['Orders', 'orders', 'a/b', 'a b', '..', '.hidden']
  const endpoints = names.map(
    (name, index) =>
      `{ name: "${name}", consumeURL: /p${index}, authType: Bearer, authTokenFile: erp.password }`,
  )
  const { file } = writeDocument(
    'named',
    `projects: [{ slug: named, name: N, applications: [{ slug: web, name: W, endpoints: [${endpoints.join(', ')}] }] }]`,
  )
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  const files = listSecretFiles(parse(await exportText(svc, 'named')))
  expect(new Set(files.map((one) => one.toLowerCase())).size).toBe(names.length)
  expect(
    files.filter((one) => !/^secrets\/named\/endpoints\/web\/[a-z0-9-][a-z0-9~-]*\.token$/.test(one)),
  ).toEqual([])
})

test('names that occur twice cannot be exported', async () => {
  const at = ['-p', 'main', '-a', 'main-app']
  await svc(['triggers', 'create', 'same', ...at, '--cron-expression', '@daily'])
  await svc(['triggers', 'create', 'same', ...at, '--cron-expression', '@hourly'])
  const { code, out, err } = await svc(['export', '-p', 'main'])
  expect([code, out, err]).toEqual([
    1,
    '',
    'svc: 2 triggers are named main/main-app/same. Rename or delete all but one.\n',
  ])
})

test('settings that apply rejects are reported', async () => {
  await svc(['projects', 'create', 'mixed', '--name', 'Mixed'])
  await svc(['settings', 'update', '-p', 'mixed', '--themes', 'light'])
  // The API accepts a default that is not enabled.
  const connection = connect({ url: env['SVC_URL'] ?? '', token: env['SVC_TOKEN'] ?? '' })
  const { id } = (await json(['projects', 'get', 'mixed'])) as { id: string }
  const { settings } = await graphql(connection, getSettingsDocument, { project: id })
  const change = { id: settings.frontendSetting.id, input: { DefaultTheme: 'dark' } }
  await graphql(connection, updateFrontendModuleConfigDocument, change)
  const { code, out, err } = await svc(['export', '-p', 'mixed'])
  expect([code, err]).toEqual([
    0,
    expect.stringContaining('settings mixed: The default theme dark is not enabled.'),
  ])
  expect((await svc(['apply', '-f', '-'], { input: out })).out).toContain('Nothing to do.')
})

test('a missing secret file is an error only if the secret must be sent', async () => {
  const { file } = writeDocument('missing')
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  const text = (await exportText(svc, 'missing')).replaceAll('missing', 'absent')
  const refused = await svc(['apply', '-f', '-', '--yes', '--tokens-dir', folder.path], { input: text })
  expect([refused.code, refused.out, refused.err]).toEqual([
    2,
    '',
    expect.stringMatching(
      /orders\.password does not exist\. Create it, and write the password or token into it\.\n$/,
    ),
  ])
  expect((await svc(['projects', 'get', 'absent'])).code).toBe(4)
  // A comparison sends nothing.
  expect((await svc(['diff', '-f', '-'], { input: text })).code).toBe(1)
})

test('standard input must be a document', async () => {
  expect((await svc(['apply', '-f', '-'], { isTerminal: true })).err).toContain('The document is missing.')
  const { code, err } = await svc(['apply', '-f', '-'], { input: 'projects: [{ slug: new, name: New }]' })
  expect([code, err]).toEqual([2, expect.stringContaining('Pass --yes.')])
  expect((await svc(['apply', '-f', '-'], { input: 'a: [' })).err).toContain(
    'standard input is not valid YAML',
  )
})

test('all projects are exported in the order of their slugs', async () => {
  const at = ['-p', 'main', '-a', 'main-app']
  for (const { id } of (await json(['triggers', 'list', ...at])) as { id: string }[])
    await svc(['triggers', 'delete', id, ...at, '--yes'])
  const { projects } = (await json(['export', '--all-projects'])) as { projects: { slug: string }[] }
  const slugs = projects.map(({ slug }) => slug)
  expect(slugs).toContain('main')
  expect(slugs).toEqual(slugs.toSorted())
})
