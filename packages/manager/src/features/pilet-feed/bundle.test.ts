// These tests cover GET /pilet-bundle/…, which browsers use to load the bytes of a pilet.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import {
  type ProxyCall,
  requestThroughProxy,
  etagOf,
  expectNotFound,
  expectSecretOnly,
  secret,
  ifNoneMatch,
} from '../../../test/kit/cached-responses.ts'
import { type RawAnswer, rawCall } from '../../../test/kit/http.ts'
import { addPackages, setLayer, sha256 } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedProject, seedTenant } from '@manager/harness/seed.ts'

/** A second process of the same installation. */
let twin: TestApp

const { service, admin, project, other } = useProject({ withOther: true })
const script = Buffer.from('//@pilet v:2\nexport const grün = "🙂"\n')
beforeAll(async () => {
  twin = await startTestApp({ database: service.database })
  await addPackages(service.sql, project.id, [
    { name: '@acme/menu', version: '1.2.3+b', bytes: script },
    { name: 'unlisted', version: '1.0.0' },
    { name: 'staged', version: '1.0.0', enabled: false },
  ])
  await addPackages(service.sql, other.id, [{ name: '@acme/theirs', version: '1.0.0' }])
  await setLayer(service.sql, project, 'project', { modules: ['@acme/menu', 'staged', '@acme/theirs'] })
  await setLayer(service.sql, other, 'project', { modules: ['@acme/menu', '@acme/theirs'] })
})
afterAll(async () => {
  await twin.close()
})

const pathOf = (of: SeededProject, name: string, version: string): string =>
  `/pilet-bundle/${of.applicationId}/${of.id}/${encodeURIComponent(name)}/${encodeURIComponent(version)}`
const menu = (): string => pathOf(project, '@acme/menu', '1.2.3+b')
const ask = (path: string, call: ProxyCall = {}) => requestThroughProxy(call.app ?? service, path, call)
const expectRejected = (answer: RawAnswer): void => expectNotFound(answer, 'Package not found')
const described = {
  'cache-control': 'public, max-age=31536000, immutable',
  etag: `"${sha256(script)}"`,
  'x-pilet-hash': sha256(script),
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; sandbox",
}
const ofBytes = { 'content-type': 'text/javascript', 'content-length': String(script.length) }

describe('a bundle', () => {
  test('[pilet-feed.bundle] is the exact bytes with the headers of a download; the secret alone opens it', async () => {
    const answer = await ask(menu())
    expect([answer.status, answer.body]).toEqual([200, script.toString()])
    expect(answer.headers).toMatchObject({ ...described, ...ofBytes })
    await expectSecretOnly(service, menu(), admin.id)
    const upper = menu().replace(project.applicationId, project.applicationId.toUpperCase())
    expect((await ask(upper.replace(project.id, project.id.toUpperCase()))).body).toBe(answer.body)
  })

  test('[pilet-feed.bundle] has the stored type, whatever its bytes are, and any bytes arrive as they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, n) => (n * n) % 251))
    const types = ['application/gzip', 'application/x-javascript', 'application/octet-stream']
    const packages = types.map((contentType, n) => ({
      name: `typed${n}`,
      version: '1.0.0',
      bytes,
      contentType,
    }))
    await addPackages(service.sql, project.id, packages)
    await setLayer(service.sql, project, 'application', {
      modules: ['@acme/menu', 'staged', '@acme/theirs', ...packages.map(({ name }) => name)],
    })
    for (const { name, contentType } of packages) {
      const answer = await fetch(`${service.url}${pathOf(project, name, '1.0.0')}`, {
        headers: { 'x-proxy-auth': proxySecret },
      })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, contentType])
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
    }
  })

  test('[pilet-feed.bundle] HEAD says the same without the bytes, and who has them is answered 304; neither reads them', async () => {
    const own = await startTestApp({ database: service.database })
    for (const call of [{ method: 'HEAD' }, { method: 'HEAD', ...ifNoneMatch('"other"') }]) {
      const head = await ask(menu(), { app: own, ...call })
      expect([head.status, head.body]).toEqual([200, ''])
      expect(head.headers).toMatchObject({ ...described, ...ofBytes })
    }
    for (const method of ['GET', 'HEAD'])
      for (const call of [
        ifNoneMatch(described.etag),
        ifNoneMatch('*'),
        ifNoneMatch(`"x", W/${described.etag}`),
      ]) {
        const answer = await ask(menu(), { app: own, method, ...call })
        expect([answer.status, answer.body]).toEqual([304, ''])
        expect(answer.headers).toMatchObject(described)
      }
    expect(own.statements.filter((text) => text.includes('blob_chunks'))).toEqual([])
    expect((await ask(menu(), { app: own, ...ifNoneMatch(`"${'0'.repeat(64)}"`) })).body).toBe(
      script.toString(),
    )
    expect(own.statements.filter((text) => text.includes('blob_chunks'))).toHaveLength(1)
    await own.close()
  })

  test('[pilet-feed.bundle] nothing that a request adds changes a byte or a header', async () => {
    const plain = await ask(menu())
    const without = ({ headers, status, body }: RawAnswer) => {
      const { date: _date, 'x-request-id': _id, ...rest } = headers
      return { status, body, headers: rest }
    }
    const lines: [string, string][][] = [
      [['x-forwarded-host', 'evil.example']],
      [['x-forwarded-proto', 'gopher']],
      [['x-forwarded-for', '1.2.3.4']],
      [['x-original-url', '/health']],
      [['x-rewrite-url', '/health']],
      [['x-http-method-override', 'DELETE']],
      [['range', 'bytes=0-3']],
      [['range', 'bytes=-1,0-0']],
      [['if-range', described.etag]],
      [['if-match', '"x"']],
      [['if-modified-since', 'Fri, 01 Jan 2100 00:00:00 GMT']],
      [['accept-encoding', 'gzip, br;q=0, *;q=0.1']],
      [['accept-encoding', 'identity;q=0']],
      [['accept', 'text/html']],
      [['origin', 'https://evil.example']],
      [['cookie', 'a=b']],
      [['authorization', 'Bearer x']],
      [['x-token-subject', admin.id]],
      [['content-type', 'text/html']],
    ]
    for (const headers of lines)
      expect([headers, without(await ask(menu(), { headers }))]).toEqual([headers, without(plain)])
    for (const query of ['?', '?a=b', '?version=9', '?callback=x&callback=y', '?%00', '?__proto__=x', '?%zz'])
      expect([query, without(await ask(`${menu()}${query}`))]).toEqual([query, without(plain)])
  })

  test('bytes that are not what their hash says are never sent: 500, logged and counted', async () => {
    const [hash] = await addPackages(service.sql, project.id, [{ name: 'typed0', version: '2.0.0' }])
    await service.sql.query(`update blob_chunks set bytes = bytes || '!' where sha256 = $1`, [hash])
    const answer = await ask(pathOf(project, 'typed0', '2.0.0'))
    expect([answer.status, answer.headers['cache-control'], etagOf(answer)]).toEqual([
      500,
      'no-store',
      undefined,
    ])
    expect(answer.body).not.toContain('// typed0')
    expect(service.logLines.some((line) => line['sha256'] === hash)).toBe(true)
    const { values } = await service.world.metrics.damagedBlobs.get()
    expect(values.filter(({ value }) => value > 0)).toMatchObject([
      { value: 1, labels: { store: 'postgres' } },
    ])
  })
})

describe('what is rejected', () => {
  test('[pilet-feed.bundle-rejected] foreign, unknown, disabled, not listed or malformed: one answer', async () => {
    const { applicationId, id } = project
    const rest = '%40acme%2Fmenu/1.2.3%2Bb'
    const names = [
      'unlisted/1.0.0',
      'staged/1.0.0',
      '%40acme%2Ftheirs/1.0.0',
      '%40acme%2Fmenu/9.9.9',
      'x/1.0.0',
    ]
    const spellings = [
      '%40acme%2Fmenu/1.2.3',
      '%40acme%2Fmenu/v1.2.3%2Bb',
      '%40acme%2Fmenu/1.2.3%2Bc',
      '%40acme%2Fmenu/latest',
      '%40acme%252Fmenu/1.2.3%2Bb',
      '%2540acme%252fmenu/1.2.3%252Bb',
      '%40ACME%2Fmenu/1.2.3%2Bb',
      '%40acme%2Fmenu%20/1.2.3%2Bb',
      '%40acme%2Fmenu/%201.2.3%2Bb',
      '%40acme%2Fmenu%00/1.2.3%2Bb',
      '..%2f..%2f/1.0.0',
      '..%2fmenu/1.2.3%2Bb',
      '%2e%2e%2f/1.0.0',
      '%252e%252e%252f/1.0.0',
      '%00/%00',
      '%E2%80%A4%E2%80%A4%2Fmenu/1.2.3%2Bb',
      '%F0%9F%99%82/1.0.0',
      '*/*',
      '%25/%25',
      '__proto__/1.0.0',
      `${'a'.repeat(215)}/1.0.0`,
      `${'a'.repeat(590)}/1.0.0`,
      `a/${'1'.repeat(300)}.0.0`,
      "'/1.0.0",
      '%40acme%2Fmenu/%zz',
      '%zz/1.0.0',
      '%c3%28/1.0.0',
      '%ff/1.0.0',
      `${'a'.repeat(601)}/1.0.0`,
      `a/${'1'.repeat(5_000)}`,
    ]
    const paths = [
      ...[...names, ...spellings].map((name) => `${applicationId}/${id}/${name}`),
      ...[randomUUID(), other.id, project.tenantId, applicationId, 'x', '%00', `${id}0`, `%7B${id}%7D`].map(
        (wrong) => `${applicationId}/${wrong}/${rest}`,
      ),
      ...[randomUUID(), other.applicationId, id, 'x', '%00', '*', applicationId.replaceAll('-', '')].map(
        (wrong) => `${wrong}/${id}/${rest}`,
      ),
      `${other.applicationId}/${other.id}/${rest}`,
      // The first path was decoded by a proxy. The other paths are not bundle addresses.
      `${project.applicationId}/${id}/@acme/menu/1.0.0`,
      `${project.applicationId}/${id}/${rest}/`,
      `${project.applicationId}/${id}`,
      '',
    ]
    const bodies = new Set<string>()
    for (let round = 0; round < 2; round++)
      for (const path of paths)
        for (const call of [{}, ifNoneMatch('*')]) {
          const answer = await ask(`/pilet-bundle/${path}`, call)
          expect([path, answer.status]).toEqual([path, 404])
          expectRejected(answer)
          expect(answer.headers['x-pilet-hash']).toBeUndefined()
          const { request_id: id, ...body } = JSON.parse(answer.body) as Record<string, string>
          expect(id).toBe(answer.headers['x-request-id'])
          bodies.add(JSON.stringify([body, answer.headers['content-type']]))
        }
    expect([...bodies]).toHaveLength(1)
    const head = await ask(`/pilet-bundle/${paths[0]}`, { method: 'HEAD' })
    expect([head.status, head.body, head.headers['cache-control']]).toEqual([404, '', 'no-store'])
    expect((await ask(menu())).status).toBe(200)
  })

  test('an address that cannot be read tells nothing to who has no secret', async () => {
    for (const headers of [[], [secret]]) {
      const path = `/pilet-bundle/${project.applicationId}/%zz/a/b`
      expectRejected(await rawCall(service.url, { path, headers }))
    }
  })

  test('[pilet-feed.bundle-rejected] a change of what is enabled is seen by the next request, at every process', async () => {
    const changing = await seedProject(service.sql, 'changing')
    await addPackages(service.sql, changing.id, [{ name: 'a', version: '1.0.0' }])
    const expectEverywhere = async (status: number) => {
      for (const app of [service, twin])
        expect((await ask(pathOf(changing, 'a', '1.0.0'), { app })).status).toBe(status)
    }
    const enable = (enabled: boolean) =>
      service.sql.query('update pilet_packages set enabled = $2 where project_id = $1', [
        changing.id,
        enabled,
      ])
    await expectEverywhere(404)
    for (const layer of ['project', 'application', 'tenant', 'tenant2application'] as const) {
      await setLayer(service.sql, changing, layer, { modules: ['a'] })
      await expectEverywhere(200)
      await enable(false)
      await expectEverywhere(404)
      await enable(true)
      await expectEverywhere(200)
      await setLayer(service.sql, changing, layer, { modules: [] })
      await expectEverywhere(404)
    }
  })

  test('[pilet-feed.bundle-rejected] what a tenant alone loads is served while the application is enabled for it', async () => {
    const shop = await seedProject(service.sql, 'shop')
    const [second, row] = [randomUUID(), randomUUID()]
    await seedTenant(service.sql, shop.id, second, 'shop-second')
    await service.sql.query(
      `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)`,
      [row, shop.id, second, shop.applicationId],
    )
    await addPackages(service.sql, shop.id, [{ name: 'a', version: '1.0.0' }])
    const status = async () => (await ask(pathOf(shop, 'a', '1.0.0'))).status
    const ofSecond = { ...shop, tenantId: second }
    await setLayer(service.sql, ofSecond, 'tenant', { modules: ['a'] })
    expect(await status()).toBe(200)
    // A non-empty layer of tenant and application replaces the layer of the tenant.
    await setLayer(service.sql, ofSecond, 'tenant2application', { modules: ['b'] })
    expect(await status()).toBe(404)
    await setLayer(service.sql, ofSecond, 'tenant2application', { modules: [] })
    expect(await status()).toBe(200)
    await service.sql.query('update tenant2applications set enabled = false where id = $1', [row])
    expect(await status()).toBe(404)
    await setLayer(service.sql, shop, 'tenant2application', { modules: ['a'] })
    expect(await status()).toBe(200)
    // A tenant of a different project that lists the same name has no effect.
    await setLayer(service.sql, shop, 'tenant2application', { modules: [] })
    await setLayer(service.sql, other, 'tenant', { modules: ['a'] })
    expect(await status()).toBe(404)
  })
})
