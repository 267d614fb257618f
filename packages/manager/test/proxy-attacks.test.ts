// Tests attempts to impersonate another user or host, against each reference proxy: real servers with the files in
// deploy/proxy. Stand-ins for the Manager and for a backend record the requests.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApache } from '@manager/harness/engines/apache.ts'
import { createReferenceProxy } from '@manager/harness/engines/nginx-proxy.ts'
import { startOidcProvider } from '@manager/harness/engines/oidc-provider.ts'
import { isProxyHeader, proxyHeaders } from '../src/proxy-config/proxy-headers.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { useProject } from './kit/project.ts'
import { renderProxy } from './kit/rendered-proxy.ts'
import { openRaw } from './kit/raw-socket.ts'
import { signIn } from './kit/sign-in.ts'
import { type Upstream, startUpstream } from './kit/upstream.ts'

const { service, project, other } = useProject({ slug: 'shop', withOther: true })
const [management, shop, dedicated] = [
  '127.0.0.1',
  'shop-app.shop.example.com',
  'shop-tenant.shop-app.shop.example.com',
]
const forged = '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'
const alice = { id: '2f6c0000-0000-4000-8000-000000000001', email: 'alice@example.com', name: 'Alice' }

let [manager, backend]: [Upstream, Upstream] = [undefined as never, undefined as never]
const closing: (() => Promise<void>)[] = []
/** The port of each proxy, and the headers that identify a person on the management host and on the shop host. */
const proxies = { nginx: { port: 0, person: '', caller: '' }, apache: { port: 0, person: '', caller: '' } }
const token = `Authorization: Bearer pat_${'a'.repeat(8)}_${'b'.repeat(32)}\r\n`

const render = (form: 'nginx' | 'apache'): Promise<string> =>
  renderProxy(service, { form, management, backendUrl: backend.url })

/** Makes the stand-in Manager identify every caller as Alice, in the project's tenant. */
function vouchForAlice(): void {
  const tenant = { id: project.tenantId, name: 'Shop' }
  const valid = {
    valid: true,
    user: { id: alice.id, is_machine_user: false },
    tenant,
    application: { has_access: true, role: 'normal', available_tenants: [tenant] },
  }
  manager.answer((_request, response) => void response.end(JSON.stringify(valid)))
}

beforeAll(async () => {
  ;[manager, backend] = [await startUpstream(), await startUpstream()]
  await service.sql.query("update tenants set deployment_mode = 'dedicated'")
  const provider = await startOidcProvider([alice])
  const of = { managerUrl: manager.url, secret: proxySecret }
  const nginx = await createReferenceProxy(of)
  await nginx.start(await render('nginx'))
  const apache = await startApache({ ...of, provider, rendered: await render('apache') })
  for (const one of [nginx, apache, provider, manager, backend]) closing.push(() => one.close())
  vouchForAlice()
  const sessionAt = async (host: string, path: string): Promise<string> =>
    (await signIn({ port: apache.port, host, login: alice.id, path })).cookie.join(': ') + '\r\n'
  Object.assign(proxies.nginx, { port: nginx.port, person: token, caller: token })
  Object.assign(proxies.apache, {
    port: apache.port,
    person: await sessionAt(management, '/cli/authorize'),
    caller: await sessionAt(shop, '/'),
  })
}, 180_000)
afterAll(async () => {
  for (const close of closing) await close()
})
beforeEach(() => {
  manager.reset()
  backend.reset()
  vouchForAlice()
})

const names = [
  ...proxyHeaders,
  'X-Token-Subject',
  'X-Token-User-Email',
  'X-Token-User-Name',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Port',
  'X-Forwarded-Server',
  'X-Forwarded-Prefix',
  'OIDC_CLAIM_sub',
]
const spellings: [string, (name: string) => string][] = [
  ['as it is', (name) => `${name}: ${forged}\r\n`],
  ['in capitals', (name) => `${name.toUpperCase()}: ${forged}\r\n`],
  ['with underscores', (name) => `${name.replaceAll('-', '_')}: ${forged}\r\n`],
  ['with one underscore', (name) => `${name.toLowerCase().replace('-', '_')}: ${forged}\r\n`],
  ['with dots', (name) => `${name.replaceAll('-', '.')}: ${forged}\r\n`],
  ['twice', (name) => `${name}: ${forged}\r\n${name.toLowerCase()}: ${forged}\r\n`],
  [
    'with and without underscores',
    (name) => `${name}: ${forged}\r\n${name.replaceAll('-', '_')}: ${forged}\r\n`,
  ],
  ['with a space before the colon', (name) => `${name} : ${forged}\r\n`],
  ['on a folded line', (name) => `X-Other: a\r\n ${name}: ${forged}\r\n`],
  ['after a bare line feed', (name) => `X-Other: a\n${name}: ${forged}\n`],
  ['after a bare carriage return', (name) => `X-Other: a\r${name}: ${forged}\r\n`],
  ['named in Connection', (name) => `${name}: ${forged}\r\nConnection: ${name}, close\r\n`],
]

type Raw = { method?: string; target: string; host?: string; lines?: string; body?: string }

describe.each(['nginx', 'apache'] as const)('%s', (kind) => {
  const hostOf = (name: string): string => `${name}:${proxies[kind].port}`
  /** Returns the response status, or 0 if the connection closes without a response. */
  async function send({
    method = 'GET',
    target,
    host = management,
    lines = '',
    body = '',
  }: Raw): Promise<number> {
    const raw = await openRaw(`http://127.0.0.1:${proxies[kind].port}`)
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
    raw.send(`${method} ${target} HTTP/1.1\r\nHost: ${hostOf(host)}\r\n${lines}${length}\r\n${body}`)
    await raw.waitUntil(() => /^HTTP\/1\.1 [2-5]/.test(raw.received().toString('latin1')))
    raw.socket.destroy()
    return Number(raw.received().toString('latin1').slice(9, 12))
  }
  /** Returns the received identity headers, by the name under which a backend would read them. */
  const arrived = (at: Upstream): Record<string, string[]> => {
    const found: Record<string, string[]> = {}
    for (const { rawHeaders } of at.received)
      for (let index = 0; index < rawHeaders.length; index += 2) {
        const name = (rawHeaders[index] ?? '').toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
        if (isProxyHeader(name)) (found[name] ??= []).push(rawHeaders[index + 1] ?? '')
      }
    return found
  }

  describe.each(spellings)('a forged header %s', (_spelling, write) => {
    // Only Apache uses separate headers for claims.
    const all = [...names, ...(kind === 'apache' ? ['OIDC-CLAIM-email', 'X-Svc-User'] : [])]
      .map(write)
      .join('')

    test.each([
      ['nobody', { target: '/health' }],
      ['a machine', { method: 'DELETE', target: '/api/machine/backend/x' }],
      ['a terminal', { method: 'POST', target: '/api/cli/login/start' }],
    ] as [string, Raw][])('says nothing to the Manager about %s', async (_who, call) => {
      await send({ ...call, lines: all })
      expect(JSON.stringify(arrived(manager))).not.toContain(forged)
      for (const name of ['x-token-subject', 'x-user-id', 'x-tenant-id', 'forwarded', 'traceparent'])
        expect(arrived(manager)).not.toHaveProperty(name)
    })

    test('does not change who a person is, to the Manager and to a backend', async () => {
      // A malformed request is rejected as a whole. Accepted requests contain only the values that the proxy sets,
      // each exactly once.
      const [query, order] = [
        await send({ method: 'POST', target: '/query', lines: proxies[kind].person + all }),
        await send({ target: '/order', host: shop, lines: proxies[kind].caller + all }),
      ]
      expect([200, 400]).toContain(query)
      expect(order).toBe(query)
      const [toManager, toBackend] = [manager, backend].map((at) => {
        at.received.splice(
          0,
          at.received.length,
          ...at.received.filter(({ url }) => !url.startsWith('/api/validate')),
        )
        return arrived(at)
      })
      expect(JSON.stringify([toManager, toBackend])).not.toContain(forged)
      const isPassed = query === 200
      expect(toManager?.['x-proxy-auth']).toEqual(isPassed ? [proxySecret] : undefined)
      const isSession = isPassed && kind === 'apache'
      expect(toManager?.['x-token-subject']).toEqual(isSession ? [alice.id] : undefined)
      expect(toBackend?.['x-user-id']).toEqual(isPassed ? [alice.id] : undefined)
      expect(toBackend?.['x-tenant-id']).toEqual(isPassed ? [project.tenantId] : undefined)
      expect(toBackend?.['x-forwarded-for']).toEqual(isPassed ? ['127.0.0.1'] : undefined)
      expect(toBackend).not.toHaveProperty('x-proxy-auth')
    })

    test('makes nobody of a client without a credential', async () => {
      await send({ method: 'POST', target: '/query', lines: all })
      await send({ target: '/order', host: shop, lines: all })
      await send({ target: `/api/proxy/comms/${project.applicationId}/unread`, host: shop, lines: all })
      expect(backend.received).toEqual([])
      for (const name of ['x-token-subject', 'x-user-id', 'x-tenant-id'])
        expect(arrived(manager)).not.toHaveProperty(name)
    })
  })

  test.each([
    '/api/validate-proxy-auth',
    '/api/validate-oauth-user',
    '/api/proxy/wake',
    '/query/../api/proxy/wake',
    '/query/..%2fapi/proxy/wake',
    '/api/cli/login/start/../../../validate-proxy-auth',
    '/api/cli/login/start/%2e%2e/%2e%2e/%2e%2e/validate-proxy-auth',
    '/-/proxy',
    '/-/backend',
    '/-/validate',
    '/-/login',
    '//query',
    '/./query',
    '/%71uery',
    '/query%00',
    '/query%0d%0aX-User-Id:%20x',
    '/query;x',
    '/QUERY',
    '\\query',
    'query',
    '*',
    '',
  ])('a path that no route has reaches nobody: %j', async (target) => {
    for (const host of [management, 'elsewhere.example.com', ''])
      await send({ method: 'POST', target, host, lines: proxies[kind].person })
    // With a credential, an application backend receives its own paths, but the Manager never does.
    await send({ method: 'POST', target, host: shop })
    expect(manager.received).toEqual([])
    expect(backend.received).toEqual([])
  })

  test.each([
    ['a request target with a scheme', { target: 'http://127.0.0.1/api/proxy/wake' }],
    ['one with another host', { target: `http://${shop}/order`, host: management }],
    ['one with the host of the Manager', { method: 'POST', target: 'http://127.0.0.1/query', host: shop }],
    ['one of another protocol', { target: 'ftp://127.0.0.1/health' }],
    ['TRACE', { method: 'TRACE', target: '/health' }],
    ['CONNECT', { method: 'CONNECT', target: '127.0.0.1:80' }],
    ['OPTIONS of everything', { method: 'OPTIONS', target: '*' }],
    ['a method in small letters', { method: 'post', target: '/query' }],
    ['a method that the route does not have', { method: 'PUT', target: '/query' }],
  ] as [string, Raw][])('%s reaches nobody', async (_what, call) => {
    await send({ ...call, lines: proxies[kind].person })
    expect([manager.received, backend.received]).toEqual([[], []])
  })

  test('the host of one tenant or application has nothing of another, however it is written', async () => {
    const { applicationId, tenantId } = project
    const foreign = [
      `/pilet-feed/${other.applicationId}`,
      `/pilet-feed/${applicationId}/${other.tenantId}`,
      `/api/frontend-config/${applicationId}/${other.tenantId}`,
      `/api/proxy/comms/${other.applicationId}/unread`,
      `/pilet-feed/${applicationId.toUpperCase()}/${tenantId}`,
    ]
    for (const host of [shop, dedicated, dedicated.toUpperCase(), `${dedicated}.`])
      for (const target of foreign)
        expect([host, target, await send({ target, host, lines: proxies[kind].caller })]).toEqual([
          host,
          target,
          404,
        ])
    expect(manager.received).toEqual([])
    expect(await send({ target: `/pilet-feed/${applicationId}/${tenantId}`, host: dedicated })).toBe(200)
  })

  test('two hosts in a request, or none, are refused or one of them decides: never a third', async () => {
    const second = `Host: ${hostOf(dedicated)}\r\n`
    const feed = `/pilet-feed/${project.applicationId}/${project.tenantId}`
    expect(await send({ target: feed, host: shop, lines: second })).toBe(400)
    expect(await send({ target: feed, host: shop, lines: `X-Forwarded-Host: ${dedicated}\r\n` })).toBe(404)
    expect(
      await send({ target: feed, host: 'elsewhere.example.com', lines: `X-Host: ${dedicated}\r\n` }),
    ).toBe(404)
    expect(manager.received).toEqual([])
  })

  test.each([
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 40\r\n'],
    ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n'],
    ['an unknown coding', 'Transfer-Encoding: xchunked\r\n'],
    ['chunks behind a tab', 'Transfer-Encoding:\tchunked\r\nContent-Length: 4\r\n'],
    ['a length with a sign', 'Content-Length: +4\r\n'],
  ])('a request inside of another one does not get through: %s', async (_how, lines) => {
    const inner = `0\r\n\r\nPOST /smuggled HTTP/1.1\r\nHost: x\r\nX-User-Id: ${forged}\r\n\r\n`
    const raw = await openRaw(`http://127.0.0.1:${proxies[kind].port}`)
    raw.send(
      `POST /esb/x HTTP/1.1\r\nHost: ${hostOf(management)}\r\n${lines}Connection: keep-alive\r\n\r\n${inner}`,
    )
    await raw.waitUntil(() => raw.received().length > 0)
    raw.socket.destroy()
    await send({ target: '/health' })
    expect(manager.received.map(({ url }) => url)).not.toContain('/smuggled')
    expect(JSON.stringify(arrived(manager))).not.toContain(forged)
  })

  test('another upgrade than to a websocket is not passed on', async () => {
    await send({
      target: '/health',
      lines: 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
    })
    expect(manager.received).toHaveLength(1)
    expect(manager.received[0]?.headers).not.toHaveProperty('upgrade')
  })
})
