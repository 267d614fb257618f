// Tests the proxy of the demo and its two doors: the start page, the requests that the proxy forwards and rejects, and
// the data, which is created only once.
import { once } from 'node:events'
import { type IncomingMessage, request as ask } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { anna, ben } from '../tools/demo-people.ts'
import { violationsOf } from './kit/cli-login-page.ts'
import { type DemoScene, openTab, startDemoScene } from './kit/demo.ts'
import { launchBrowser } from './kit/pilet-page.ts'

let browser: Browser
let scene: DemoScene
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await startDemoScene()
})
afterAll(async () => {
  await browser?.close()
  await scene?.close()
})

const [annasCookie, bensCookie] = [`demo_person=${anna.key}`, `demo_person=${ben.key}`]

/** Sends a request to the proxy with the given host and headers. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const sent = ask({ host: '127.0.0.1', port: scene.port, path, method, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks = await response.toArray()
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() }
}

const shopHost = (): string => `shop.localhost:${scene.port}`
const managerHost = (): string => `127.0.0.1:${scene.port}`
const tenantId = (slug: string): string => scene.shop.tenants[slug]?.id ?? ''
const inbox = (): string => `/api/proxy/comms/${scene.shop.application.id}/notifications`
const forgedHeaders = (): Record<string, string> => ({
  'x-proxy-auth': 'guessed',
  'x-user-id': anna.subject,
  'x-tenant-id': tenantId('acme'),
  'x-token-subject': anna.subject,
})
const me = async (headers: Record<string, string>) => {
  const response = await fetch(`${scene.addresses.manager}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{"query":"{ me { id } }"}',
  })
  return [response.status, (await response.json()) as unknown]
}

test.each(['light', 'dark'] as const)('the start page leads to both doors, in %s', async (colorScheme) => {
  const { tab, complaints } = await openTab(browser, scene.addresses.start, { colorScheme })
  const hosts = new Set<string>()
  tab.on('request', (request) => hosts.add(new URL(request.url()).origin))
  await tab.reload()
  expect(await violationsOf(tab)).toEqual([])
  expect([...hosts]).toEqual([scene.addresses.start])
  const links = await tab
    .getByRole('link')
    .evaluateAll((found) => found.map((link) => (link as HTMLAnchorElement).href))
  const { console: consoleUrl, shop } = scene.addresses
  expect(links).toEqual([
    `${consoleUrl}/console/p/bloom/overview`,
    `${shop}/`,
    expect.stringMatching(/\/console\/p\/bloom\/settings\?tenant=[0-9a-f-]{36}&application=[0-9a-f-]{36}$/),
    expect.stringMatching(/\/console\/p\/bloom\/access\?application=[0-9a-f-]{36}$/),
  ])
  expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(complaints).toEqual([])
})

describe('the proxy', () => {
  test('takes nobody for who they say they are, and each door has its own person', async () => {
    expect(await get(inbox(), { host: shopHost(), ...forgedHeaders() })).toMatchObject({ status: 401 })
    expect(await get(inbox(), { host: shopHost(), cookie: annasCookie })).toMatchObject({ status: 401 })
    const refused = [401, { error: 'sign in, or send a personal access token' }]
    expect(await me(forgedHeaders())).toEqual(refused)
    expect(await me({ cookie: bensCookie })).toEqual(refused)
    expect(await me({ cookie: annasCookie, ...forgedHeaders(), 'x-token-subject': ben.subject })).toEqual([
      200,
      { data: { me: { id: anna.subject } } },
    ])
    const own = await get(inbox(), { host: shopHost(), cookie: bensCookie, ...forgedHeaders() })
    expect([own.status, own.body]).toEqual([200, expect.not.stringContaining('by Amir') as string])
  })

  test('serves each host its own routes, with its own ids, and no others', async () => {
    const { id } = scene.shop.application
    const statuses = async (host: string, paths: readonly string[], cookie = bensCookie) =>
      Promise.all(paths.map(async (path) => (await get(path, { host, cookie })).status))
    const config = `/api/frontend-config/${id}`
    expect(await statuses(shopHost(), [`${config}/${tenantId('birch')}`, `/pilet-feed/${id}`])).toEqual([
      200, 200,
    ])
    expect(
      await statuses(shopHost(), [
        `${config}/${tenantId('acme')}`,
        `/api/frontend-config/${scene.shop.applications.deliveries.id}/${tenantId('birch')}`,
        `/pilet-feed/${tenantId('birch')}`,
        `/api/proxy/user/${ben.subject}/tenants`,
        '/api/machine/check',
        '/query',
        `${config}%2f${tenantId('birch')}`,
        `/x/..${config}/${tenantId('acme')}`,
        '/examples/shell/../../package.json',
        '/packages/client/src/%2e%2e/package.json',
      ]),
    ).toEqual(Array.from({ length: 10 }, () => 404))
    const managerPaths = ['/api/machine/check', '/health', `${config}/${tenantId('birch')}`]
    expect(await statuses(managerHost(), managerPaths, annasCookie)).toEqual([200, 200, 404])
    expect(await statuses(`localhost:${scene.port}`, ['/', '/query', '/sign-in', inbox()])).toEqual([
      200, 404, 404, 404,
    ])
    expect(await statuses('evil.example', ['/', '/sign-in', inbox()])).toEqual([421, 421, 421])
  })

  test('signs in only at its own host, and returns to a path of it', async () => {
    const signIn = async (next: string) => {
      const { status, headers } = await get(`/sign-in?${new URLSearchParams({ next })}`, { host: shopHost() })
      return [status, headers.location, headers['set-cookie']?.[0]?.split(';')[0]]
    }
    expect(await signIn('/?x=1')).toEqual([303, '/?x=1', bensCookie])
    expect(await signIn('//evil.example')).toEqual([303, '/', bensCookie])
    const page = await get('/console/', { host: managerHost(), accept: 'text/html' })
    expect([page.status, page.headers.location]).toEqual([303, '/sign-in?next=%2Fconsole%2F'])
    const end = await get('/-/logout', { host: managerHost(), cookie: annasCookie })
    expect([end.status, end.headers['set-cookie']?.[0]]).toEqual([303, expect.stringContaining('Max-Age=0')])
  })

  test('with the cookie of somebody it takes no change, no order and no websocket from a page of another origin', async () => {
    const headers = { host: shopHost(), cookie: bensCookie, origin: 'http://localhost:1' }
    expect((await get(`${inbox()}/read`, headers, 'POST')).status).toBe(403)
    expect((await get('/orders', headers, 'POST')).status).toBe(403)
    const open = async (origin: string): Promise<unknown> => {
      const address = `ws://127.0.0.1:${scene.port}${inbox().replace(/notifications$/, 'ws')}`
      const socket = new WebSocket(address, { origin, headers: { host: shopHost(), cookie: bensCookie } })
      const [first] = await Promise.race([
        once(socket, 'message'),
        once(socket, 'unexpected-response').then(([, response]) => [response.statusCode as number]),
      ])
      socket.on('error', () => undefined).terminate()
      return typeof first === 'number' ? first : (JSON.parse(String(first)) as { type: string }).type
    }
    expect([await open(headers.origin), await open(scene.addresses.shop)]).toEqual([403, 'hello'])
  })

  test('is not affected by callers that leave before the response', async () => {
    for (let callers = 0; callers < 20; callers++) {
      const sent = ask({ host: '127.0.0.1', port: scene.port, path: '/health', agent: false })
      sent.on('error', () => undefined).end()
      await once(sent, 'finish')
      sent.destroy()
    }
    expect((await get('/health', { host: managerHost() })).status).toBe(200)
  })
})

const count = async (table: string): Promise<number> =>
  (await scene.sql.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]?.n ?? 0

test('the data is created once: a second start finds it, and what people have changed', async () => {
  const tables = ['projects', 'applications', 'tenants', 'language_packs', 'pilet_packages', 'machine_users']
  const more = ['endpoints', 'machine_user2endpoints', 'triggers', 'user2tenants', 'user2projects']
  const countAll = () => Promise.all([...tables, ...more, 'esb_audit_logs', 'trigger_runs'].map(count))
  const before = await countAll()
  expect(before.slice(0, -2)).toEqual([1, 3, 4, 3, 2, 7, 7, 10, 6, 6, 5])
  await scene.sql.query("update projects set name = 'Renamed'")
  expect((await scene.ensureData()).project).toMatchObject({ id: scene.shop.project.id, name: 'Renamed' })
  expect(await countAll()).toEqual(before)
})

test('the counts of the past are those of the logs', async () => {
  const { rows } = await scene.sql.query<{ logged: number; counted: number }>(
    `select (select count(*)::int from esb_audit_logs) as logged,
       (select sum(calls)::int from esb_call_counts where application_id is null) as counted
     union all select (select count(*)::int from trigger_runs),
       (select sum(runs)::int from trigger_run_counts where trigger_id is null)`,
  )
  for (const { logged, counted } of rows) expect([logged > 1_000, counted]).toEqual([true, logged])
})

test('an interrupted first start is repeated', async () => {
  await scene.sql.query('update machine_users set created_at = now()')
  expect((await scene.ensureData()).project.id).not.toBe(scene.shop.project.id)
  expect(await count('projects')).toBe(1)
})
