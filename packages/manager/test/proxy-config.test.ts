// Tests `manager proxy-config`, and its description of the service routes.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { valid, gte } from 'semver'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../src/generated/routes.ts'
import { createGatePatterns } from '../src/proxy-config/gate-patterns.ts'
import { readHostPatterns } from '../src/proxy-config/hosts.ts'
import { minProxyVersion } from '../src/proxy-config/release.ts'
import { listProxyRoutes } from '../src/proxy-config/routes.ts'
import { version } from '../src/version.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { blocksOf, readPage } from './kit/doc-page-runner.ts'
import { runManager } from './kit/commands.ts'
import { useProject } from './kit/project.ts'
import { gatedRoutes, routesOf } from './kit/routes.ts'
import { seedTenant } from '@manager/harness/seed.ts'

const { service, project, other } = useProject({ slug: 'shop', withOther: true })
const folder = mkdtempSync(path.join(tmpdir(), 'proxy-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const pattern = ['--host-pattern', '{application}.{project}.example.com']
const run = (...args: string[]) => runManager(['proxy-config', ...args], testEnv(service.database.url))
const rendered = async (...args: string[]) => JSON.parse((await run(...pattern, ...args)).stdout)
const dedicatedId = randomUUID()

beforeAll(async () => {
  await seedTenant(service.sql, project.id, dedicatedId, 'acme')
  await service.sql.query("update tenants set deployment_mode = 'dedicated' where id = $1", [dedicatedId])
  await service.sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values (gen_random_uuid(), $1, $2, $3, true)',
    [project.id, dedicatedId, project.applicationId],
  )
})

describe('what is rendered', () => {
  test('[versioning.min-proxy-version] it carries the least version of a proxy, a SemVer string, in each of its forms', async () => {
    const { min_proxy_version: least, release, format } = await rendered()
    expect([least, release, format]).toEqual([minProxyVersion, version, 1])
    expect(valid(least)).toBe(least)
    const { stdout } = await run(...pattern, '--format', 'nginx')
    expect(stdout.split('\n')).toContain(`# min_proxy_version: ${least}`)
  })

  test('an application has a host, and so has each dedicated tenant that it is enabled for', async () => {
    const {
      hosts,
      host_count: count,
      management_host: management,
    } = await rendered(
      '--management-host',
      'manager.example.com',
      '--backend-pattern',
      'http://{application}.{project}:8080',
    )
    const shop = {
      project: { id: project.id, slug: 'shop' },
      application: { id: project.applicationId, slug: 'shop-app' },
    }
    const backend = 'http://shop-app.shop:8080'
    expect(hosts).toEqual([
      {
        host: 'other-app.other.example.com',
        project: { id: other.id, slug: 'other' },
        application: { id: other.applicationId, slug: 'other-app' },
        tenant: null,
        backend: 'http://other-app.other:8080',
      },
      { host: 'shop-app.shop.example.com', ...shop, tenant: null, backend },
      { host: 'acme.shop-app.shop.example.com', ...shop, tenant: { id: dedicatedId, slug: 'acme' }, backend },
    ])
    expect([count, management]).toEqual([3, 'manager.example.com'])
  })

  test('a tenant that the application is no longer enabled for has no host', async () => {
    const set = (enabled: boolean) =>
      service.sql.query('update tenant2applications set enabled = $2 where tenant_id = $1', [
        dedicatedId,
        enabled,
      ])
    await set(false)
    expect((await rendered()).host_count).toBe(2)
    await set(true)
  })

  test('the same database gives the same bytes', async () => {
    for (const form of ['json', 'nginx']) {
      const [one, again] = [await run(...pattern, '--format', form), await run(...pattern, '--format', form)]
      expect(one.stdout).not.toBe('')
      expect(again).toEqual(one)
    }
  })

  test('a file is written as a whole; what fails leaves the former one, and no part', async () => {
    const file = path.join(folder, 'proxy.json')
    expect(await run(...pattern, '--out', file)).toEqual({ code: 0, stdout: '', stderr: '' })
    const written = readFileSync(file, 'utf8')
    expect(written).toBe((await run(...pattern)).stdout)
    const collision = await run(
      ...pattern,
      '--out',
      file,
      '--management-host',
      'acme.shop-app.shop.example.com',
    )
    expect([collision.code, collision.stderr]).toEqual([
      1,
      'error: the host of shop/shop-app/acme equals the management host acme.shop-app.shop.example.com; choose another host for --management-host\n',
    ])
    expect(readFileSync(file, 'utf8')).toBe(written)
    expect(readdirSync(folder)).toEqual(['proxy.json'])
  })

  test('what would be longer than a name of DNS has no host, and is named', async () => {
    const slug = 'a'.repeat(64)
    await service.sql.query(
      'insert into applications (id, project_id, name, slug) values (gen_random_uuid(), $1, $2, $2)',
      [other.id, slug],
    )
    const { code, stdout, stderr } = await run(...pattern)
    expect([code, stderr]).toEqual([
      0,
      `other/${slug} has no host: its labels may have at most 63 characters and the host at most 253.\n`,
    ])
    expect(stdout).not.toContain(slug)
    await service.sql.query('delete from applications where slug = $1', [slug])
  })

  test.each([
    ['{application}.example.com', undefined, 'must contain each of {application}, {project} once'],
    [
      '{application}.{project}.{tenant}.example.com',
      undefined,
      'must contain each of {application}, {project} once',
    ],
    ['{application}-{project}.example.com', undefined, 'joins two slugs, so two hosts could be the same'],
    ['{application}.{project}.Example.com', undefined, 'is not a host pattern'],
    ['{application}.{project}..com', undefined, 'is not a host pattern'],
    ['{application}.{project}.example.com; return', undefined, 'is not a host pattern'],
    [
      '{application}.{project}.x.example.com',
      '{tenant}.{application}.{project}.example.com',
      'can produce the same host',
    ],
  ])('patterns that would render something wrong are refused: %s', (shared, dedicated, text) => {
    expect(() => readHostPatterns(shared, dedicated)).toThrow(text)
  })

  test('patterns of as many labels are taken when a fixed label tells them apart', () => {
    const shared = '{application}.{project}.apps.shared.example.com'
    const dedicated = '{tenant}.{application}.{project}.dedicated.example.com'
    expect(readHostPatterns(shared, dedicated)).toEqual({ shared, dedicated })
  })

  test('so are other options, by the command', async () => {
    for (const [args, text] of [
      [['--host-pattern', '{application}-{project}.example.com'], 'joins two slugs'],
      [[...pattern, '--management-host', 'x y'], 'x y is not a host'],
      [[...pattern, '--backend-pattern', 'ftp://{application}.{project}'], 'is not a backend pattern'],
      [[], "required option '--host-pattern <pattern>' not specified"],
    ] as const) {
      const { code, stdout, stderr } = await run(...args)
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(text)])
    }
  })

  test('--help shows the options and examples', async () => {
    const { code, stdout } = await run('--help')
    expect(code).toBe(0)
    expect(stdout).toContain("proxy-config --host-pattern '{application}.{project}.example.com'")
  })
})

test('the page for authors of a proxy shows the fields of the document, and only options of the command', async () => {
  const page = readPage('guides/proxies/write-a-proxy.md')
  const shown = JSON.parse(blocksOf(page).find(({ language }) => language === 'json')?.text ?? '')
  const real = await rendered('--management-host', 'manager.example.com')
  expect(Object.keys(shown)).toEqual(Object.keys(real))
  const dedicated = real.hosts.find(({ tenant }: { tenant: unknown }) => tenant !== null)
  expect(Object.keys(shown.hosts[0])).toEqual(Object.keys(dedicated))
  expect(routes).toContainEqual(shown.routes[0])
  const help = (await run('--help')).stdout
  const options = new Set(page.match(/(?<=[ `])--[a-z]+(?:-[a-z]+)*(?=[ `])/g))
  expect(options.size).toBeGreaterThanOrEqual(6)
  for (const option of options) expect(help).toContain(option)
  for (const gate of new Set(routes.map(({ gate }) => gate))) expect(page).toContain(`| \`${gate}\``)
})

describe('the routes', () => {
  test('are those of the running service, with the gate that each of them declares', async () => {
    expect(routes).toEqual(listProxyRoutes(service.app.routes))
    expect((await rendered()).routes).toEqual(routes)
    const named = (list: { name: string }[]): string[] => [
      ...new Set(list.map(({ name }) => name.replace(/^\S+ /, ''))),
    ]
    expect(routes.map(({ path }) => path).toSorted()).toEqual(named(routesOf(service)).toSorted())
    const gated = routes.filter(({ gate }) => gate !== 'open' && gate !== 'machine')
    expect(gated.map(({ path }) => path).toSorted()).toEqual(named(gatedRoutes(service)).toSorted())
  })

  test('the first pattern that matches a path of the console is the one of its route', () => {
    const patterns = createGatePatterns(routes).map(({ pattern, gate }) => ({
      match: new RegExp(pattern),
      gate,
    }))
    const gateOf = (method: string, path: string) =>
      patterns.find(({ match }) => match.test(`management - - - ${method} ${path}`))?.gate
    for (const path of [
      '/console',
      '/console/',
      '/console/shop/tenants',
      '/console/assets',
      '/console/assets/a/b',
    ])
      expect([path, gateOf('GET', path)]).toEqual([path, 'user'])
    expect(gateOf('HEAD', '/console/assets/index-1a2b.js')).toBe('proxy')
    expect([gateOf('POST', '/console/'), gateOf('GET', '/consoles')]).toEqual([undefined, undefined])
  })

  test('what the proxy asks for itself is on no host', () => {
    const asked = routes.filter(({ served_on }) => served_on === 'none').map(({ path }) => path)
    expect(asked).toEqual([
      '/api/proxy/deployment',
      '/api/proxy/ready',
      '/api/proxy/user/:user_id/tenants',
      '/api/proxy/wake',
      '/api/validate-oauth-user',
      '/api/validate-proxy-auth',
    ])
  })
})

test('[versioning.release-train] the Manager, its libraries and its proxy are of one release', async () => {
  const root = new URL('../../../', import.meta.url).pathname
  const packages = readdirSync(path.join(root, 'packages'))
  expect(packages.length).toBeGreaterThan(1)
  for (const name of packages) {
    const file = JSON.parse(readFileSync(path.join(root, 'packages', name, 'package.json'), 'utf8'))
    expect([name, file.version]).toEqual([name, version])
  }
  const apply = readFileSync(path.join(root, 'deploy/proxy/apply'), 'utf8')
  expect(/^version=(.*)$/m.exec(apply)?.[1]).toBe(version)
  expect((await rendered()).release).toBe(version)
  // A proxy of this release must accept the configuration that this release renders.
  expect(gte(version, minProxyVersion)).toBe(true)
})
