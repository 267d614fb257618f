// Tests the reference proxy in deploy/proxy: a real nginx with the unmodified files in front of the service, and a
// configuration rendered by `manager proxy-config`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { lt, valid } from 'semver'
import { WebSocket } from 'ws'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ReferenceProxy,
  applyScript,
  createReferenceProxy,
} from '@manager/harness/engines/nginx-proxy.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { basicValue, createMachine, createToken } from '@manager/harness/credentials.ts'
import { type RawCall, rawCall } from './kit/http.ts'
import { useProject } from './kit/project.ts'
import { renderProxy } from './kit/rendered-proxy.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { type Upstream, startUpstream } from './kit/upstream.ts'

const { service, admin, project, other, person } = useProject({ slug: 'shop', withOther: true })
const folder = mkdtempSync(path.join(tmpdir(), 'reference-proxy-test-'))
const management = 'manager.example.com'
const shop = 'shop-app.shop.example.com'
const dedicated = 'shop-tenant.shop-app.shop.example.com'

let backend: Upstream
/** Stand-in for the Manager that records the requests of the proxy. */
let manager: Upstream
let proxy: ReferenceProxy
let watched: ReferenceProxy
let rendered: string
let alice: Person
let token: string

beforeAll(async () => {
  ;[backend, manager] = [await startUpstream(), await startUpstream()]
  await service.sql.query("update tenants set deployment_mode = 'dedicated' where id = $1", [
    project.tenantId,
  ])
  alice = await person('alice')
  await seedMember(service.sql, alice, 'member', { projectId: project.id, tenantId: project.tenantId })
  token = (await createToken(service, alice)).token
  rendered = await renderProxy(service, { form: 'nginx', management, backendUrl: backend.url })
  proxy = await createReferenceProxy({ managerUrl: service.url, secret: proxySecret })
  watched = await createReferenceProxy({ managerUrl: manager.url, secret: proxySecret })
  await proxy.start(rendered)
  await watched.start(rendered)
})
afterAll(async () => {
  await proxy?.close()
  await watched?.close()
  await backend?.close()
  await manager?.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  backend.reset()
  manager.reset()
})

const bearer = (value = token): [string, string][] => [['authorization', `Bearer ${value}`]]
const ask = (call: RawCall, of: ReferenceProxy = proxy) => rawCall(`http://127.0.0.1:${of.port}`, call)
const me = (headers: [string, string][]): RawCall => ({
  method: 'POST',
  path: '/query',
  host: management,
  headers: [...headers, ['content-type', 'application/json']],
  body: '{"query": "{ me { id } }"}',
})

/** Every header that only the proxy may set, with forged values. */
const forged: [string, string][] = [
  ['X-Proxy-Auth', 'guessed'],
  ['X-Token-Subject', '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'],
  ['X-Token-User-Email', 'root@example.com'],
  ['X-Token-User-Name', 'Root'],
  ['X-User-Id', '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'],
  ['X-Tenant-Id', '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'],
  ['X-Forwarded-For', '203.0.113.9'],
  ['X-Forwarded-Host', 'evil.example.com'],
  ['X-Forwarded-Proto', 'gopher'],
  ['Forwarded', 'for=203.0.113.9'],
  ['X-Request-Id', 'forged'],
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ['tracestate', 'forged=1'],
]

describe('the Manager behind it', () => {
  test('a personal access token passes, and nothing else says who somebody is', async () => {
    expect(JSON.parse((await ask(me(bearer()))).body)).toEqual({ data: { me: { id: alice.id } } })
    expect(JSON.parse((await ask(me([...forged, ...bearer()]))).body)).toEqual({
      data: { me: { id: alice.id } },
    })
    const nobody = await ask(me(forged))
    expect([nobody.status, JSON.parse(nobody.body).error]).toEqual([
      401,
      expect.stringMatching(/^no authenticated user/),
    ])
  })

  test.each([
    ['open', { path: '/health', host: management }, null],
    ['machine', { path: '/api/machine/backend/x', method: 'DELETE', host: management }, null],
    ['proxy', { path: '/api/cli/login/start', method: 'POST', host: management }, proxySecret],
    ['user', { path: '/pilets/x', host: management }, proxySecret],
  ] as const)('a forged header is replaced or removed: %s', async (_gate, call, secret) => {
    const twice = forged.flatMap((line): [string, string][] => [line, [line[0].toUpperCase(), line[1]]])
    await ask({ ...call, headers: twice }, watched)
    const headers = new Map<string, string[]>()
    const lines = manager.received[0]?.rawHeaders ?? []
    for (let at = 0; at < lines.length; at += 2) {
      const name = (lines[at] as string).toLowerCase()
      headers.set(name, [...(headers.get(name) ?? []), lines[at + 1] as string])
    }
    const kept = new Set([
      'x-proxy-auth',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-request-id',
    ])
    for (const name of forged.map(([name]) => name.toLowerCase()).filter((name) => !kept.has(name)))
      expect([name, headers.get(name)]).toEqual([name, undefined])
    expect(headers.get('x-proxy-auth')).toEqual(secret === null ? undefined : [secret])
    expect(headers.get('x-forwarded-for')).toEqual(['127.0.0.1'])
    expect(headers.get('x-forwarded-host')).toEqual([management])
    expect(headers.get('x-forwarded-proto')).toEqual(['http'])
    expect(headers.get('x-request-id')).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)])
  })

  test('a machine token passes; /health says no more than to anyone', async () => {
    const machine = await createMachine(service, admin, project.environmentId)
    const check = await ask({
      path: '/api/machine/check',
      host: management,
      headers: bearer(machine.token ?? ''),
    })
    expect(JSON.parse(check.body)).toMatchObject({ authenticated: true, machine_user_id: machine.id })
    expect(JSON.parse((await ask({ path: '/health', host: management })).body)).toEqual({ status: 'ok' })
  })

  test.each([
    '/api/validate-proxy-auth',
    '/api/validate-oauth-user',
    '/api/proxy/wake',
    '/query/../api/proxy/wake',
    '/query/..%2fapi/proxy/wake',
    '/api/cli/login/start/../../../validate-proxy-auth',
    '/-/proxy',
    '/-/backend',
    '/-/validate',
    '//query',
    '/%71uery',
  ])('what is for the proxy alone reaches nobody: %s', async (sent) => {
    for (const host of [management, shop, 'elsewhere.example.com'])
      await ask(
        { path: sent, method: 'POST', host, body: '{}', headers: [['content-type', 'application/json']] },
        watched,
      )
    expect(manager.received).toEqual([])
  })

  test('another upgrade than to a websocket is not passed on', async () => {
    await ask(
      {
        path: '/health',
        host: management,
        headers: [
          ['Connection', 'Upgrade'],
          ['Upgrade', 'h2c'],
        ],
      },
      watched,
    )
    expect(manager.received[0]?.headers).not.toHaveProperty('upgrade')
  })
})

describe('the host of an application', () => {
  test('has the feed of its own application, and with a dedicated tenant that of the tenant', async () => {
    const { applicationId: own, tenantId: tenant } = project
    const statuses = async (host: string): Promise<number[]> => {
      const paths = [
        `/pilet-feed/${own}`,
        `/pilet-feed/${own}/${tenant}`,
        `/api/frontend-config/${own}/${tenant}?x=1`,
        `/pilet-feed/${other.applicationId}`,
        `/pilet-feed/${own}/${other.tenantId}`,
        '/query',
      ]
      const answers = await Promise.all(paths.map((sent) => ask({ path: sent, host })))
      return answers.map(({ status }) => status)
    }
    // /query is forwarded to the backend of the application, and only with a credential.
    expect(await statuses(shop)).toEqual([200, 404, 404, 404, 404, 401])
    expect(await statuses(dedicated)).toEqual([200, 200, 200, 404, 404, 401])
    expect(await statuses('elsewhere.example.com')).toEqual([404, 404, 404, 404, 404, 404])
  })

  test('its backend hears who is calling, from the Manager, and gets neither secret nor credential', async () => {
    const answer = await ask({ path: '/orders%2F1?x=%20', host: shop, headers: [...forged, ...bearer()] })
    expect([answer.status, answer.body]).toEqual([200, '{"accepted":true}'])
    const { url, headers } = backend.received[0] ?? { headers: {} }
    expect(url).toBe('/orders%2F1?x=%20')
    expect(headers).toMatchObject({ 'x-user-id': alice.id, 'x-tenant-id': project.tenantId, host: shop })
    for (const name of ['x-proxy-auth', 'authorization', 'x-token-subject'])
      expect(headers).not.toHaveProperty(name)
  })

  test('a Basic machine user passes; wrong credentials and people without access do not', async () => {
    const login = { username: 'Backend', password: 'pass:wörd" \\ ' }
    await createMachine(service, admin, project.environmentId, login)
    const as = async (authorization: string, host = shop): Promise<number> =>
      (await ask({ path: '/', host, headers: [['authorization', authorization]] })).status
    expect(await as(basicValue(login.username, login.password))).toBe(200)
    expect(await as(basicValue(login.username, 'wrong'))).toBe(401)
    expect(await as('Bearer "},{"')).toBe(401)
    expect(await as(`Bearer ${token}`, 'other-app.other.example.com')).toBe(403)
    expect(backend.received).toHaveLength(1)
  })

  test('a tenant is chosen among those of the caller', async () => {
    const chosen = async (tenantId: string): Promise<number> =>
      (await ask({ path: '/', host: shop, headers: [...bearer(), ['X-Select-Tenant', tenantId]] })).status
    expect([await chosen(project.tenantId), await chosen(other.tenantId)]).toEqual([200, 403])
  })

  test('without the Manager nobody is let in, and is told to come again', async () => {
    manager.answer((_request, response) =>
      response.writeHead(503, { 'retry-after': '7' }).end('{"valid":false}'),
    )
    const busy = await ask({ path: '/', host: shop, headers: bearer() }, watched)
    expect([busy.status, busy.headers['retry-after']]).toEqual([503, '7'])
    manager.answer((_request, response) =>
      response.writeHead(429, { 'retry-after': '9' }).end('{"valid":false}'),
    )
    const locked = await ask({ path: '/', host: shop, headers: bearer() }, watched)
    expect([locked.status, locked.headers['retry-after']]).toEqual([429, '9'])
    // A wrong proxy secret is not the caller's fault, so the proxy returns 503 instead of 401.
    manager.answer((_request, response) =>
      response.writeHead(401).end('{"error":"missing or invalid X-Proxy-Auth"}'),
    )
    expect((await ask({ path: '/', host: shop, headers: bearer() }, watched)).status).toBe(503)
    manager.answer((_request, response) => response.destroy())
    expect((await ask({ path: '/', host: shop, headers: bearer() }, watched)).status).toBe(503)
    expect(backend.received).toEqual([])
    expect(watched.errors()).not.toContain('exited on signal')
  })

  test('many callers at once are told apart', async () => {
    const machine = await createMachine(service, admin, project.environmentId)
    const credentials = [token, machine.token ?? '', 'x'.repeat(43)]
    const calls = Array.from({ length: 90 }, (_, at) => credentials[at % 3] as string)
    const answers = await Promise.all(
      calls.map((one) => ask({ path: `/${one}`, host: shop, headers: bearer(one) })),
    )
    expect(answers.map(({ status }) => status === 200)).toEqual(calls.map((_, at) => at % 3 !== 2))
    const owners = backend.received.map(({ url, headers }) => [url, headers['x-user-id']])
    expect(owners).toHaveLength(60)
    for (const [url, owner] of owners) expect(owner).toBe(url === `/${token}` ? alice.id : machine.id)
    expect(proxy.errors()).not.toContain('exited on signal')
  })

  test('an inbox is for people; a machine user has none', async () => {
    const machine = await createMachine(service, admin, project.environmentId)
    const unread = async (headers: [string, string][]) =>
      ask({ path: `/api/proxy/comms/${project.applicationId}/unread`, host: shop, headers })
    expect((await unread(bearer())).body).toBe('{"unread":false}')
    expect((await unread(bearer(machine.token ?? ''))).status).toBe(403)
    expect((await unread(forged)).status).toBe(401)
  })

  test('a websocket opens for whom the credential says, whatever they claim', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/api/proxy/comms/${project.applicationId}/ws`, {
      headers: { host: shop, ...Object.fromEntries([...forged, ...bearer()]) },
    })
    const first = await new Promise<string>((resolve, reject) => {
      socket.once('message', (data: Buffer) => resolve(data.toString()))
      socket.once('error', reject)
    })
    expect(JSON.parse(first)).toMatchObject({ type: 'hello', unread: false })
    socket.terminate()
  })
})

describe('deploy/proxy/apply', () => {
  const write = (text: string): string => {
    const file = path.join(folder, 'rendered.conf')
    writeFileSync(file, text)
    return file
  }
  const needing = (version: string): string =>
    rendered.replace(/^# min_proxy_version: .*$/m, `# min_proxy_version: ${version}`)
  const feed = async (host = shop): Promise<number> =>
    (await ask({ path: `/pilet-feed/${project.applicationId}`, host })).status
  /** Returns the rendered configuration with the application moved to a different host. */
  const moved = (text = rendered): string => text.replaceAll(`  ${shop} `, '  moved.example.com ')

  test('[versioning.release-train] a proxy older than min_proxy_version refuses and keeps its last good configuration', async () => {
    const { code, output } = await proxy.apply(write(moved(needing('99.0.0'))))
    expect([code, output]).toEqual([
      1,
      'rejected: this proxy is 0.9.0 and the configuration requires 99.0.0 or newer; upgrade the proxy first; the active configuration stays\n',
    ])
    expect(proxy.activeConfiguration()).toBe(rendered)
    expect([await feed(), await feed('moved.example.com')]).toEqual([200, 404])
  })

  test('what is not complete, of another form, or refused by nginx changes nothing', async () => {
    for (const [text, reason] of [
      [moved().slice(0, -30), 'is incomplete'],
      [moved().replace('# format: 1', '# format: 2'), 'supports only format 1'],
      [moved().replace('# min_proxy_version: ', '# other: '), 'has no min_proxy_version'],
      [moved(needing('1.x')), 'is not a SemVer version'],
      [moved().replace('map $host $svc_host {', 'map $host {'), 'nginx rejects it'],
    ] as const) {
      const { code, output } = await proxy.apply(write(text))
      expect([code, output]).toEqual([1, expect.stringContaining(reason)])
      expect(proxy.activeConfiguration()).toBe(rendered)
    }
    expect(await feed()).toBe(200)
  })

  test('a good one is in service after it, and the same again is nothing to do', async () => {
    expect(await proxy.apply(write(moved()))).toEqual({
      code: 0,
      output: 'applied: release 0.9.0, 3 hosts\n',
    })
    await expect.poll(() => feed('moved.example.com'), { timeout: 60_000 }).toBe(200)
    await expect.poll(() => feed(), { timeout: 60_000 }).toBe(404)
    expect(await proxy.apply(write(moved()))).toEqual({
      code: 0,
      output: 'unchanged: this configuration is already active\n',
    })
    expect((await proxy.apply(write(rendered))).code).toBe(0)
    await expect.poll(() => feed(), { timeout: 60_000 }).toBe(200)
  })

  test('a proxy that does not run keeps its file', async () => {
    const stopped = await createReferenceProxy({ managerUrl: service.url, secret: proxySecret })
    writeFileSync(path.join(stopped.folder, 'rendered.conf'), rendered)
    const { code, output } = await stopped.apply(write(moved()))
    expect([code, output]).toEqual([1, expect.stringContaining('nginx failed to reload')])
    expect(stopped.activeConfiguration()).toBe(rendered)
    await stopped.close()
  })

  test('versions are compared as SemVer does', async () => {
    const versions = ['0.1.0', '0.1.0-rc.2', '0.1.0-1']
    const good = [
      '0.1.0-rc.1',
      '0.1.0-rc.10',
      '0.1.0-rc',
      '0.1.0-rc.2.x',
      '0.2.0',
      '0.0.9',
      '1.0.0+build-7.1',
      '0.1.0+x',
    ]
    const more = [...good, '99999999999999999999.0.0', '0.1', '01.1.0', '0.1.0-01', '', '0.1.0-']
    const script = path.join(folder, 'apply')
    for (const own of versions) {
      writeFileSync(script, readFileSync(applyScript, 'utf8').replace(/^version=.*$/m, `version=${own}`))
      for (const needed of [...versions, ...more]) {
        const { output } = await proxy.apply(write(needing(needed)), script)
        const isVersion = valid(needed) !== null || needed.startsWith('9999')
        const isOlder = needed.startsWith('9999') || (isVersion && lt(own, needed))
        const expected = !isVersion
          ? /is not a SemVer|has no min_proxy/
          : isOlder
            ? /^rejected: this proxy is/
            : /^(unchanged|applied)/
        expect([own, needed, output]).toEqual([own, needed, expect.stringMatching(expected)])
      }
    }
  })
})
