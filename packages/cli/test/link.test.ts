// Tests linked folders, the variables for project, app and environment, and the line that names them before a write.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { seedTrigger } from '../../manager/test/kit/triggers.ts'
import { startProxy } from './kit/proxy.ts'
import { useSvc } from './kit/svc.ts'

const { service, project, folder, svc } = useSvc({ withOther: true })
const scope = { cwd: '' }
const linksFile = (): string => path.join(folder.path, '.config', 'svc', 'links.json')
beforeAll(async () => {
  scope.cwd = path.join(folder.path, 'work')
  mkdirSync(path.join(scope.cwd, 'deep', 'down'), { recursive: true })
  await seedTrigger(service.sql, project)
})
const below = { cwd: '' }
beforeAll(() => void (below.cwd = path.join(scope.cwd, 'deep', 'down')))

test('a link names project, app and environment for a folder and its subfolders', async () => {
  expect(await svc(['link'], scope)).toMatchObject({
    code: 4,
    err: expect.stringContaining('svc link --project'),
  })
  const linked = await svc(['link', '-p', 'main', '-a', 'main-app', '-e', 'dev'], scope)
  expect([linked.code, linked.out]).toEqual([
    0,
    `Linked ${scope.cwd} to project main, app main-app, environment dev.\n`,
  ])
  expect(statSync(linksFile()).mode & 0o777).toBe(0o600)
  expect((await svc(['link', '--json'], below)).out).toContain('"app": "main-app"')
  expect((await svc(['triggers', 'list'], below)).out).toContain('seeded')
  expect((await svc(['machine-users', 'list'], below)).code).toBe(0)
  expect((await svc(['triggers', 'list'])).err).toContain('svc link --project <project> --app <name>')
  expect((await svc(['tenants', 'list'])).err).toContain('set SVC_PROJECT, or link this folder')
})

test('a write names what it uses, and a read does not', async () => {
  const created = await svc(['tenants', 'create', 'linked', '--name', 'Linked'], below)
  expect([created.out, created.err]).toEqual([
    expect.stringMatching(/^Created tenant linked /),
    `Using project main (link of ${scope.cwd}).\n`,
  ])
  expect((await svc(['tenants', 'list'], below)).err).toBe('')
  const update = ['triggers', 'update', 'seeded', '--description', 'x']
  expect((await svc(update, below)).err).toBe(
    `Using project main (link of ${scope.cwd}), app main-app (link of ${scope.cwd}).\n`,
  )
  expect((await svc([...update, '-p', 'main', '-a', 'main-app'])).err).toBe(
    'Using project main, app main-app.\n',
  )
  const env = { SVC_PROJECT: 'main', SVC_APP: 'main-app' }
  expect((await svc(update, { env })).err).toBe('Using project main (SVC_PROJECT), app main-app (SVC_APP).\n')
  const asked = await svc(['tenants', 'delete', 'linked'], { ...below, isTerminal: true, input: 'n\n' })
  expect(asked.err).toMatch(/^Using project main \(link of .*\)\.\n.*Delete tenant linked /)
})

test('options and variables take precedence, and an app is not used with another project', async () => {
  expect((await svc(['tenants', 'list', '-p', 'other'], below)).out).toContain('other-tenant')
  expect((await svc(['tenants', 'list'], { ...below, env: { SVC_PROJECT: 'other' } })).out).toContain(
    'other-tenant',
  )
  const withOption = await svc(['triggers', 'list', '-p', 'other'], below)
  const withVariable = await svc(['triggers', 'list'], { ...below, env: { SVC_PROJECT: 'other' } })
  for (const { code, err } of [withOption, withVariable])
    expect([code, err]).toEqual([2, expect.stringContaining('The app is missing.')])
  const env = { SVC_APP: 'no-such-app' }
  expect((await svc(['triggers', 'list'], { ...below, env })).err).toContain('The app is from: SVC_APP.')
  const environment = { SVC_ENVIRONMENT: 'run' }
  const created = await svc(
    ['machine-users', 'create', 'linked', '--token-file', path.join(folder.path, 'linked.token')],
    { ...below, env: environment },
  )
  expect(created.err).toContain('environment run (SVC_ENVIRONMENT)')
})

test('an app is added to the link, and another project replaces the link', async () => {
  await svc(['link', '-p', 'main'], scope)
  const readLink = async () =>
    JSON.parse((await svc(['link', '--json'], scope)).out) as Record<string, unknown>
  expect(await readLink()).toMatchObject({ project: 'main', app: 'main-app', environment: 'dev' })
  await svc(['link', '-p', 'other'], scope)
  expect(await readLink()).toMatchObject({ project: 'other', app: null, environment: null })
  expect(await svc(['link', '-a', 'main-app'], scope)).toMatchObject({ code: 4 })
  await svc(['link', '-p', 'main', '-a', 'main-app'], scope)
  await svc(['link', '-e', 'qas'], scope)
  expect(await readLink()).toMatchObject({ project: 'main', app: 'main-app', environment: 'qas' })
  expect(await svc(['link', '-e', 'qas', '--remove'], scope)).toMatchObject({ code: 2 })
})

test('a link is ignored at another address, and survives a new slug', async () => {
  const second = await startProxy(service.url)
  try {
    const { code, err } = await svc(['tenants', 'list'], { ...below, env: { SVC_URL: second.url } })
    expect([code, err]).toEqual([2, expect.stringContaining('The project is missing.')])
  } finally {
    await second.close()
  }
  await service.sql.query("update projects set slug = 'renamed' where slug = 'main'")
  try {
    expect((await svc(['triggers', 'update', 'seeded', '--description', 'y'], below)).err).toContain(
      'project renamed',
    )
  } finally {
    await service.sql.query("update projects set slug = 'main' where slug = 'renamed'")
  }
})

test('a link to an object that is gone says how to repair it', async () => {
  const text = readFileSync(linksFile(), 'utf8')
  writeFileSync(linksFile(), text.replaceAll(project.id, '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'))
  const { code, err } = await svc(['tenants', 'list'], below)
  expect([code, err]).toEqual([
    4,
    expect.stringContaining('To link the folder again, run: svc link --project'),
  ])
  writeFileSync(linksFile(), 'no JSON')
  expect((await svc(['tenants', 'list'], below)).err).toContain('is not a valid file of links')
  writeFileSync(linksFile(), text)
})

test('a link is removed only in its folder', async () => {
  expect(await svc(['link', '--remove'], below)).toMatchObject({
    code: 2,
    err: expect.stringContaining(`The link belongs to ${scope.cwd}.`),
  })
  expect((await svc(['link', '--remove'], scope)).err).toBe(`Removed the link of ${scope.cwd}.\n`)
  expect((await svc(['link', '--remove'], scope)).err).toBe('This folder is not linked.\n')
})
