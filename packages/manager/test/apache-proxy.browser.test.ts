// Tests the reference proxy with sign-in: a real Apache with mod_auth_openidc and a real identity provider.
// The files are in deploy/proxy/apache, and `manager proxy-config` renders the configuration.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { WebSocket } from 'ws'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ApacheProxy, startApache } from '@manager/harness/engines/apache.ts'
import { ensureChromium } from '@manager/harness/engines/install.ts'
import { type OidcProvider, startOidcProvider } from '@manager/harness/engines/oidc-provider.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { openTerminal } from '@manager/harness/cli-login.ts'
import { basicValue, createMachine, createToken } from '@manager/harness/credentials.ts'
import { type RawCall, rawCall } from './kit/http.ts'
import { useProject } from './kit/project.ts'
import { renderProxy } from './kit/rendered-proxy.ts'
import { seedMember, seedTenant } from '@manager/harness/seed.ts'
import { type SignedIn, signIn } from './kit/sign-in.ts'
import { type Upstream, startUpstream } from './kit/upstream.ts'

const { service, admin, project, other, person } = useProject({ slug: 'shop', withOther: true })
const folder = mkdtempSync(path.join(tmpdir(), 'apache-proxy-test-'))
const management = '127.0.0.1'
const shop = 'shop-app.shop.example.com'
const dedicated = 'shop-tenant.shop-app.shop.example.com'
const second = randomUUID()

let backend: Upstream
/** A stand-in for the Manager. */
let manager: Upstream
let provider: OidcProvider
let proxy: ApacheProxy
let watched: ApacheProxy
let rendered: string
let alice: Person
let token: string
let session: SignedIn
let shopSession: SignedIn

const host = (name: string, of: ApacheProxy = proxy): string => `${name}:${of.port}`
const login = (name: string, page: string, who: Person = alice, of: ApacheProxy = proxy): Promise<SignedIn> =>
  signIn({ port: of.port, host: name, login: who.id, path: page })
const ask = (call: RawCall, of: ApacheProxy = proxy) => rawCall(`http://127.0.0.1:${of.port}`, call)
const bearer = (value = token): [string, string] => ['authorization', `Bearer ${value}`]
const me = (...headers: [string, string][]): RawCall => ({
  method: 'POST',
  path: '/query',
  host: host(management),
  headers: [...headers, ['content-type', 'application/json']],
  body: '{"query": "{ me { id externalName } }"}',
})

beforeAll(async () => {
  ;[backend, manager] = [await startUpstream(), await startUpstream()]
  await service.sql.query("update tenants set deployment_mode = 'dedicated' where id = $1", [
    project.tenantId,
  ])
  await seedTenant(service.sql, project.id, second, 'second')
  await service.sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values (gen_random_uuid(), $1, $2, $3, true)',
    [project.id, second, project.applicationId],
  )
  alice = await person('alice')
  for (const tenantId of [project.tenantId, second])
    await seedMember(service.sql, alice, 'member', { projectId: project.id, tenantId })
  token = (await createToken(service, alice)).token
  rendered = await renderProxy(service, { form: 'apache', management, backendUrl: backend.url })
  const accounts = [
    { id: alice.id, email: 'alice@example.com', name: 'Alice Müller-Ødegård\r\nX-Proxy-Auth: x' },
    { id: admin.id, email: 'root@example.com', name: 'Root' },
    { id: 'no-uuid', email: 'odd@example.com', name: 'Odd' },
  ]
  provider = await startOidcProvider(accounts)
  proxy = await startApache({ managerUrl: service.url, secret: proxySecret, provider, rendered })
  watched = await startApache({ managerUrl: manager.url, secret: proxySecret, provider, rendered })
  session = await login(management, '/cli/authorize?code=BCDF-GHJK')
  shopSession = await login(shop, '/orders%2F1?x=%20')
}, 180_000)
afterAll(async () => {
  await proxy?.close()
  await watched?.close()
  await provider?.close()
  await backend?.close()
  await manager?.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  backend.reset()
  manager.reset()
})

describe('a person who signs in', () => {
  test('is the one of the provider to the Manager, with the claims as they are', async () => {
    // The sign-in opened the terminal login page with a code that was never issued, so the page returns 404.
    expect([session.status, session.headers['content-type']]).toEqual([404, expect.stringContaining('html')])
    expect(JSON.parse((await ask(me(session.cookie))).body)).toEqual({
      data: { me: { id: alice.id, externalName: 'Alice Müller-Ødegård  X-Proxy-Auth: x' } },
    })
  })

  test('approves a terminal in a browser, and the token is theirs', async () => {
    const terminal = await openTerminal({ url: `http://127.0.0.1:${proxy.port}` })
    const started = await terminal.login()
    const browser: Browser = await chromium.launch({
      executablePath: ensureChromium(),
      args: ['--no-sandbox'],
    })
    try {
      const tab = await browser.newPage()
      tab.setDefaultTimeout(60_000)
      await tab.goto(`http://127.0.0.1:${proxy.port}/cli/authorize?code=${started.user_code}`)
      expect(tab.url()).toContain(provider.issuer)
      await tab.fill('input[name=login]', alice.id)
      await tab.click('button')
      await tab.waitForURL(/\/cli\/authorize/)
      expect(await tab.textContent('body')).toContain(started.user_code)
      await tab.check('input[name=compared]')
      await tab.getByRole('button', { name: 'Approve' }).click()
      await tab.getByText('Approved').first().waitFor()
      const answer = await terminal.poll(started.session_id)
      const minted = terminal.open(answer.body['sealed_token'])
      expect(JSON.parse((await ask(me(bearer(minted)))).body).data.me.id).toBe(alice.id)
    } finally {
      await browser.close()
    }
  })

  test('without a session a page goes to the provider, and a script gets a 401', async () => {
    const page = { path: '/cli/authorize?code=X', host: host(management) }
    const opened = await ask({ ...page, headers: [['Accept', 'text/html']] })
    expect([opened.status, opened.headers['location']]).toEqual([
      302,
      expect.stringMatching(new RegExp(`^${provider.issuer}/auth\\?.*code_challenge_method=S256`)),
    ])
    for (const headers of [
      [['Accept', 'application/json']],
      [
        ['Accept', 'text/html'],
        ['X-Requested-With', 'XMLHttpRequest'],
      ],
      [
        ['Accept', 'text/html'],
        ['Sec-Fetch-Mode', 'cors'],
      ],
      [],
    ] as [string, string][][]) {
      const answer = await ask({ ...page, headers })
      expect([answer.status, answer.headers['content-type'], JSON.parse(answer.body)]).toEqual([
        401,
        'application/json',
        { error: 'not signed in, or no valid credential' },
      ])
    }
    expect((await ask(me(['Accept', 'text/html']))).status).toBe(401)
  })

  test('who logs out is signed out for good: the cookie is worth nothing after it', async () => {
    const own = await login(management, '/cli/authorize?code=X')
    expect((await ask(me(own.cookie))).status).toBe(200)
    const visit = (sent: string) => ask({ path: sent, host: host(management), headers: [own.cookie] })
    for (const query of [
      'logout=https%3A%2F%2Fevil.example.net%2F',
      'logout=http://evil.example.net/-/signed-out',
      'logout=//evil.example.net',
      'state=x&code=y&logout=https://evil.example.net',
      'state=x',
      'info=json',
      '',
    ])
      expect([query, (await visit(`/-/login?${query}`)).status]).toEqual([query, 404])
    expect((await ask(me(own.cookie))).status).toBe(200)
    const start = `http://${host(management)}`
    const first = await visit('/-/logout')
    const next = String(first.headers['location'])
    expect([first.status, next]).toEqual([302, `${start}/-/login?logout=${start}/-/signed-out`])
    const end = new URL(String((await visit(next.slice(start.length))).headers['location']))
    expect(`${end.origin}${end.pathname}`).toBe(`${provider.issuer}/session/end`)
    expect(end.searchParams.get('post_logout_redirect_uri')).toBe(`${start}/-/signed-out`)
    const page = await visit('/-/signed-out')
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html'])
    expect(page.body).toContain('You are signed out.')
    expect((await ask(me(own.cookie))).status).toBe(401)
  })

  test('a page of another host cannot act with the session', async () => {
    const from = async (origin: string, ...more: [string, string][]) =>
      (await ask(me(session.cookie, ['Origin', origin], ...more))).status
    expect(await from(`http://${host(management)}`)).toBe(200)
    expect(await from('null', ['Sec-Fetch-Site', 'same-origin'])).toBe(200)
    expect([await from(`http://${host(shop)}`), await from('null')]).toEqual([403, 403])
    for (const site of ['same-site', 'cross-site'])
      expect(await from(`http://${host(management)}`, ['Sec-Fetch-Site', site])).toBe(403)
  })

  test('a session outlives a reload, and a cookie of somebody else makes nobody', async () => {
    expect((await ask(me(['Cookie', 'svc_session=0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de']))).status).toBe(401)
    const file = path.join(folder, 'again.conf')
    writeFileSync(file, rendered.replace('# Host:', '# A host:'))
    expect((await proxy.apply(file)).code).toBe(0)
    await expect.poll(async () => (await ask(me(session.cookie))).status, { timeout: 60_000 }).toBe(200)
  })
})

describe('machines and tokens', () => {
  test('a personal access token passes without a sign-in, and decides over a session', async () => {
    const bob = await person('bob')
    const other = (await createToken(service, bob)).token
    expect(JSON.parse((await ask(me(bearer()))).body).data.me.id).toBe(alice.id)
    expect(JSON.parse((await ask(me(bearer(other), session.cookie))).body).data.me.id).toBe(bob.id)
    expect((await ask(me(bearer(`pat_${'x'.repeat(8)}_${'y'.repeat(32)}`)))).status).toBe(401)
    const pilets = await ask({ path: `/pilets/${project.id}`, host: host(management), headers: [bearer()] })
    expect(pilets.status).toBe(403)
    // A person cannot authenticate with Basic credentials.
    expect((await ask(me(['authorization', basicValue('a', 'b')]))).status).toBe(401)
  })

  test('a machine token passes; /health says no more than to anyone', async () => {
    const machine = await createMachine(service, admin, project.environmentId)
    const check = await ask({
      path: '/api/machine/check',
      host: host(management),
      headers: [bearer(machine.token ?? '')],
    })
    expect(JSON.parse(check.body)).toMatchObject({ authenticated: true, machine_user_id: machine.id })
    const health = await ask({ path: '/health', host: host(management) })
    expect(JSON.parse(health.body)).toEqual({ status: 'ok' })
  })

  test('what is sent arrives as it is: body, path and query', async () => {
    const sent = '/esb/x%3Fy%2F%40/..%2f;a?z=%20&b'
    const body = 'x'.repeat(300_000)
    await ask({ method: 'PUT', path: sent, host: host(management), body }, watched)
    expect(manager.received.map(({ url, body }) => [url, body.length])).toEqual([[sent, 300_000]])
  })
})

describe('the host of an application', () => {
  test('has the feed of its own application, and with a dedicated tenant that of the tenant', async () => {
    const { applicationId: own, tenantId: tenant } = project
    const statuses = async (name: string): Promise<number[]> => {
      const paths = [
        `/pilet-feed/${own}`,
        `/pilet-feed/${own}/${tenant}`,
        `/api/frontend-config/${own}/${tenant}?x=1`,
        `/pilet-feed/${other.applicationId}`,
        `/pilet-feed/${own}/${other.tenantId}`,
        '/query',
      ]
      const answers = await Promise.all(paths.map((sent) => ask({ path: sent, host: host(name) })))
      return answers.map(({ status }) => status)
    }
    expect(await statuses(shop)).toEqual([200, 404, 404, 404, 404, 401])
    expect(await statuses(dedicated)).toEqual([200, 200, 200, 404, 404, 401])
    expect(await statuses('elsewhere.example.com')).toEqual([404, 404, 404, 404, 404, 404])
  })

  test('its backend hears who has signed in, and gets neither secret nor session nor claims', async () => {
    expect([shopSession.status, shopSession.body]).toEqual([200, '{"accepted":true}'])
    const cookie: [string, string] = ['Cookie', `a=b; ${shopSession.cookie[1]}; svc_tenant=${second}; c=d`]
    await ask({ path: '/orders%2F1?x=%20', host: host(shop), headers: [cookie] })
    const { url, headers } = backend.received[0] ?? { headers: {} }
    expect(url).toBe('/orders%2F1?x=%20')
    expect(headers).toMatchObject({ 'x-user-id': alice.id, 'x-tenant-id': second, host: host(shop) })
    expect(headers.cookie).toBe(`a=b; svc_tenant=${second}; c=d`)
    for (const name of ['x-proxy-auth', 'authorization', 'x-token-subject', 'x-token-user-email'])
      expect(headers).not.toHaveProperty(name)
  })

  test('a tenant is chosen among those of the caller, and the host of a tenant has its own', async () => {
    const { cookie } = await login(dedicated, '/')
    const at = async (name: string, ...headers: [string, string][]) => {
      backend.reset()
      const { status } = await ask({ path: '/', host: host(name), headers })
      return [status, backend.received[0]?.headers['x-tenant-id']]
    }
    expect(await at(shop, shopSession.cookie)).toEqual([200, undefined])
    expect(await at(shop, shopSession.cookie, ['X-Select-Tenant', second])).toEqual([200, second])
    expect(await at(shop, shopSession.cookie, ['X-Select-Tenant', other.tenantId])).toEqual([403, undefined])
    expect(await at(dedicated, cookie, ['X-Select-Tenant', second])).toEqual([200, project.tenantId])
    expect(await at(dedicated, bearer())).toEqual([200, project.tenantId])
  })

  test('people without access, and subjects that are no UUID, are refused', async () => {
    const stranger = await login('other-app.other.example.com', '/')
    expect([stranger.status, JSON.parse(stranger.body)]).toEqual([
      403,
      { error: 'no access to this application or tenant' },
    ])
    expect((await login(shop, '/', { id: 'no-uuid' })).status).toBe(403)
    expect(proxy.errors()).toContain('the subject claim is not a UUID')
    expect(backend.received).toEqual([])
  })

  test('a Basic machine user passes; an inbox is for people', async () => {
    const credentials = { username: 'Backend', password: 'pass:wörd" \\ ' }
    await createMachine(service, admin, project.environmentId, credentials)
    const value = basicValue(credentials.username, credentials.password)
    const as = async (authorization: string, sent = '/'): Promise<number> =>
      (await ask({ path: sent, host: host(shop), headers: [['authorization', authorization]] })).status
    const unread = `/api/proxy/comms/${project.applicationId}/unread`
    expect([await as(value), await as(value, unread), await as('Bearer "},{"')]).toEqual([200, 403, 401])
    const own = await ask({
      path: unread,
      host: host(shop),
      headers: [shopSession.cookie, ['X-Select-Tenant', second]],
    })
    expect(own.body).toBe('{"unread":false}')
  })

  test('a websocket opens for whom the session or the token says, whatever they claim', async () => {
    const hello = async (headers: Record<string, string>): Promise<unknown> => {
      const socket = new WebSocket(
        `ws://127.0.0.1:${proxy.port}/api/proxy/comms/${project.applicationId}/ws`,
        { headers: { host: host(shop), 'x-user-id': admin.id, 'x-tenant-id': other.tenantId, ...headers } },
      )
      try {
        return await new Promise((resolve) => {
          socket.on('error', resolve)
          socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString())))
          socket.once('unexpected-response', (_request, response) => resolve(response.statusCode))
        })
      } finally {
        socket.terminate()
      }
    }
    const cookie = `${shopSession.cookie[1]}; svc_tenant=${second}`
    expect(await hello({ cookie, origin: `http://${host(shop)}` })).toMatchObject({
      type: 'hello',
      unread: false,
    })
    expect(await hello({ authorization: `Bearer ${token}`, 'x-select-tenant': second })).toMatchObject({
      type: 'hello',
    })
    expect(await hello({ cookie, origin: 'http://evil.example.com' })).toBe(403)
    expect(await hello({})).toBe(401)
  })

  test('without the Manager nobody is let in, and is told to come again', async () => {
    const { cookie } = await login(shop, '/', alice, watched)
    const answers = async (headers: [string, string][]) => {
      const { status, headers: sent } = await ask({ path: '/', host: host(shop, watched), headers }, watched)
      return [status, sent['retry-after']]
    }
    for (const who of [[cookie], [bearer()]]) {
      manager.answer((_request, response) => response.writeHead(503, { 'retry-after': '7' }).end('{}'))
      expect(await answers(who)).toEqual([503, '7'])
      manager.answer((_request, response) => response.writeHead(429, { 'retry-after': '9' }).end('{}'))
      expect(await answers(who)).toEqual([429, '9'])
      // A wrong proxy secret is not the caller's fault, so the proxy returns 503 instead of 401.
      manager.answer((_request, response) => response.writeHead(401).end('{"error":"missing or invalid"}'))
      expect(await answers(who)).toEqual([503, '1'])
      manager.answer((_request, response) => response.destroy())
      expect(await answers(who)).toEqual([503, '1'])
    }
    expect(backend.received).toEqual([])
  })

  test('many callers at once are told apart', async () => {
    const machine = await createMachine(service, admin, project.environmentId)
    const who: [string, string][] = [bearer(), bearer(machine.token ?? ''), shopSession.cookie]
    const ids = [alice.id, machine.id, alice.id]
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        ask({ path: `/${at}`, host: host(shop), headers: [who[at % 3] as [string, string]] }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const owners = backend.received.map(({ url, headers }) => [url, headers['x-user-id']])
    expect(owners).toHaveLength(60)
    for (const [url, owner] of owners) expect(owner).toBe(ids[Number(url?.slice(1)) % 3])
  })
})

test('while the provider is away, sessions and tokens keep working, and nobody new gets in', async () => {
  await provider.close()
  const fresh = await startApache({ managerUrl: service.url, secret: proxySecret, provider, rendered })
  const page = await ask(
    { path: '/cli/authorize', host: host(management, fresh), headers: [['Accept', 'text/html']] },
    fresh,
  )
  expect([page.status, page.headers['location']]).toEqual([500, undefined])
  expect((await ask({ ...me(bearer()), host: host(management, fresh) }, fresh)).status).toBe(200)
  await fresh.close()
  expect((await ask(me(session.cookie))).status).toBe(200)
  expect((await ask(me())).status).toBe(401)
})
