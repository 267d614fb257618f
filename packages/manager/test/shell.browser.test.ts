// Tests examples/shell in Chromium, behind the demo proxy and a real service: what the shell shows and
// refuses, and what the proxy forwards.
import { once } from 'node:events'
import { type IncomingMessage, request as ask } from 'node:http'
import { emit } from '@manager/client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Person, anna, ben } from '../tools/demo-data.ts'
import { violationsOf } from './kit/cli-login-page.ts'
import { type DemoScene, signIn, startDemoScene } from './kit/demo.ts'
import { launchBrowser } from './kit/pilet-page.ts'

let browser: Browser
let scene: DemoScene
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await startDemoScene()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})
afterAll(async () => {
  await browser?.close()
  await scene?.close()
})

const tenantOf = ({ tenant }: Person): string => scene.shop.tenants[tenant]?.id ?? ''
const tell = (person: Person, title: string, more: object = {}) =>
  emit(scene.machine, {
    applicationId: scene.shop.application.id,
    tenantId: tenantOf(person),
    title,
    ...more,
  })
const bellOf = (tab: Page) => tab.locator('#bell')
const dotOf = (tab: Page) => tab.locator('#bell.unread')
const shownIn = (tab: Page): Promise<string> => tab.locator('body').innerText()

describe('the shell', () => {
  test('shows the texts of the locale, the settings of the tenant and the pilet, accessibly and by its policy', async () => {
    const { tab, complaints } = await signIn(browser, scene.applicationUrl, anna, { locale: 'de-AT' })
    await tab.getByRole('heading', { name: 'Willkommen, Anna' }).waitFor()
    await tab.getByRole('heading', { name: 'Bestand' }).waitFor()
    expect(await shownIn(tab)).toContain('Der Bestand wird zu jeder vollen Minute gezählt.')
    expect(await shownIn(tab)).toContain('help@demo.example')
    const root = tab.locator('html')
    expect([
      await root.getAttribute('lang'),
      await root.getAttribute('data-theme'),
      await tab.title(),
    ]).toEqual(['de', 'light', 'Store, Acme'])
    expect(await violationsOf(tab)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('follows the tenant and the language of the person', async () => {
    const { tab, complaints } = await signIn(browser, scene.applicationUrl, ben, { locale: 'fr-FR' })
    await tab.getByRole('heading', { name: 'Welcome, Ben' }).waitFor()
    await tab.getByText('it@birch.example').waitFor()
    expect(await tab.locator('html').getAttribute('data-theme')).toBe('dark')
    await tab.getByRole('heading', { name: 'Stock' }).waitFor()
    expect(await violationsOf(tab)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('has a dot after an emit, lists it with its text as text, and loses the dot when all is read', async () => {
    const { tab, complaints } = await signIn(browser, scene.applicationUrl, anna)
    const { tab: foreign } = await signIn(browser, scene.applicationUrl, ben)
    for (const one of [tab, foreign])
      await one.getByText('There are no notifications.').waitFor({ state: 'attached' })
    await tab.getByRole('heading', { name: 'Stock' }).waitFor()
    expect(await dotOf(tab).count()).toBe(0)
    const hostile = '<img src=x onerror="document.title=1">'
    await tell(anna, hostile, { data: { left: 17 } })
    await dotOf(tab).waitFor()
    expect(await bellOf(tab).getAttribute('aria-label')).toBe('Notifications, some unread')
    await tab.getByText('Tulips left: 17').waitFor()
    await bellOf(tab).click()
    await tab.getByRole('button', { name: hostile }).waitFor()
    expect(await tab.locator('img').count()).toBe(0)
    expect(await violationsOf(tab)).toEqual([])
    await tab.getByRole('button', { name: 'Mark all as read' }).click()
    await expect.poll(() => dotOf(tab).count()).toBe(0)
    // If Anna's notification had been delivered to Ben, it would arrive before Ben's own.
    await tell(ben, 'For Ben')
    await dotOf(foreign).waitFor()
    expect(await foreign.locator('#list li').count()).toBe(1)
    expect(complaints).toEqual([])
  })

  test('runs no pilet whose signing key the page does not trust, and says so', async () => {
    const context = await browser.newContext()
    await context.route('**/page-config.js', async (route) => {
      const body = await (await route.fetch()).text()
      const without = body.replace(/"pilet_signing_keys":\{[^}]*\}/, '"pilet_signing_keys":{}')
      await route.fulfill({ contentType: 'text/javascript', body: without })
    })
    const tab = await context.newPage()
    await tab.goto(scene.applicationUrl)
    await tab.getByRole('button', { name: 'Sign in as Anna' }).click()
    await tab.getByText('A part of this page could not be loaded: @demo/stock').waitFor()
    expect(await tab.getByRole('heading', { name: 'Stock', exact: true }).count()).toBe(0)
  })

  test('its policy stops a script that is written into the page', async () => {
    const { tab, complaints } = await signIn(browser, scene.applicationUrl, anna)
    await tab.getByRole('heading', { name: 'Stock' }).waitFor()
    await tab.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'document.title = "it ran"'
      document.body.append(script)
    })
    await expect.poll(() => complaints.join('\n')).toContain('Content Security Policy')
    expect(await tab.title()).toBe('Store, Acme')
  })

  test('without JavaScript it says what is missing', async () => {
    const { tab } = await signIn(browser, scene.applicationUrl, anna, { javaScriptEnabled: false })
    await tab.locator('noscript p').waitFor()
    expect(await shownIn(tab)).toContain('This page needs JavaScript')
  })
})

/** Sends a request to the proxy with the given host and headers. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const sent = ask({ host: '127.0.0.1', port: scene.port, path, method, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks = await response.toArray()
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() }
}
/** Signs in on the management host and returns the session cookie, which both hosts accept. */
async function cookieOf({ key }: Person): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${scene.port}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ person: key }),
    redirect: 'manual',
  })
  expect(response.status).toBe(303)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

describe('the proxy of the demo', () => {
  const application = (): string => `localhost:${scene.port}`
  const management = (): string => `127.0.0.1:${scene.port}`
  const inbox = (): string => `/api/proxy/comms/${scene.shop.application.id}/notifications`
  const pretended = (): Record<string, string> => ({
    'x-proxy-auth': 'guessed',
    'x-user-id': anna.subject,
    'x-tenant-id': tenantOf(anna),
    'x-token-subject': anna.subject,
  })
  const me = async (headers: Record<string, string>) => {
    const response = await fetch(`${scene.managerUrl}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"query":"{ me { id } }"}',
    })
    return [response.status, (await response.json()) as unknown]
  }

  test('takes nobody for who they say they are', async () => {
    expect(await get(inbox(), { host: application(), ...pretended() })).toMatchObject({ status: 401 })
    expect(await me(pretended())).toEqual([401, { error: 'sign in, or send a personal access token' }])
    const cookie = await cookieOf(ben)
    expect(await me({ cookie, ...pretended() })).toEqual([200, { data: { me: { id: ben.subject } } }])
    const own = await get(inbox(), { host: application(), cookie, ...pretended() })
    expect([own.status, own.body]).toEqual([200, expect.not.stringContaining('onerror') as string])
  })

  test('serves each host its own routes, with its own ids, and no others', async () => {
    const cookie = await cookieOf(anna)
    const { id } = scene.shop.application
    const statuses = async (host: string, paths: readonly string[]) =>
      Promise.all(paths.map(async (path) => (await get(path, { host, cookie })).status))
    const config = `/api/frontend-config/${id}`
    expect(await statuses(application(), [`${config}/${tenantOf(anna)}`, `/pilet-feed/${id}`])).toEqual([
      200, 200,
    ])
    expect(
      await statuses(application(), [
        `${config}/${tenantOf(ben)}`,
        `/pilet-feed/${tenantOf(anna)}`,
        `/api/proxy/user/${anna.subject}/tenants`,
        '/api/machine/check',
        '/query',
        `${config}%2f${tenantOf(anna)}`,
        `/x/..${config}/${tenantOf(ben)}`,
        '/examples/shell/../../package.json',
        '/packages/client/src/%2e%2e/package.json',
      ]),
    ).toEqual([404, 404, 404, 404, 404, 404, 404, 404, 404])
    expect(
      await statuses(management(), ['/api/machine/check', '/health', `${config}/${tenantOf(anna)}`]),
    ).toEqual([200, 200, 404])
    expect(await statuses('evil.example', ['/', '/sign-in', inbox()])).toEqual([421, 421, 421])
  })

  test('with the cookie of somebody it takes no change, and no websocket, from a page of another origin', async () => {
    const cookie = await cookieOf(anna)
    const origin = 'http://localhost:1'
    const marks = await get(`${inbox()}/read`, { host: application(), cookie, origin }, 'POST')
    expect(marks.status).toBe(403)
    const open = async (from: string): Promise<unknown> => {
      const address = `ws://127.0.0.1:${scene.port}${inbox().replace(/notifications$/, 'ws')}`
      const socket = new WebSocket(address, { origin: from, headers: { host: application(), cookie } })
      const [first] = await Promise.race([
        once(socket, 'message'),
        once(socket, 'unexpected-response').then(([, response]) => [response.statusCode as number]),
      ])
      socket.on('error', () => undefined).terminate()
      return typeof first === 'number' ? first : (JSON.parse(String(first)) as { type: string }).type
    }
    expect([await open(origin), await open(scene.applicationUrl)]).toEqual([403, 'hello'])
  })

  test('a session ends when its owner signs out', async () => {
    const { tab } = await signIn(browser, scene.applicationUrl, anna)
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByRole('heading', { name: 'Sign in to the demo' }).waitFor()
    expect(await violationsOf(tab)).toEqual([])
    await tab.goto(scene.applicationUrl)
    await tab.getByRole('button', { name: 'Sign in as Anna' }).waitFor()
  })
})

test('who leaves before the answer leaves the proxy as it is', async () => {
  for (let callers = 0; callers < 20; callers++) {
    const sent = ask({ host: '127.0.0.1', port: scene.port, path: '/health', agent: false })
    sent.on('error', () => undefined).end()
    await once(sent, 'finish')
    sent.destroy()
  }
  expect((await get('/health')).status).toBe(200)
})

test('the data is made once: a second start finds it, and what people have changed', async () => {
  const counts = async () => {
    const tables = [
      'projects',
      'applications',
      'tenants',
      'language_packs',
      'pilet_packages',
      'machine_users',
    ]
    const more = ['endpoints', 'machine_user2endpoints', 'triggers', 'user2tenants', 'user2projects']
    const found = await Promise.all(
      [...tables, ...more].map((table) => scene.sql.query(`select count(*)::int as n from ${table}`)),
    )
    return found.map(({ rows }) => rows[0].n as number)
  }
  const before = await counts()
  expect(before).toEqual([1, 1, 2, 2, 1, 1, 1, 1, 1, 2, 2])
  await scene.sql.query("update projects set name = 'Renamed'")
  expect((await scene.ensureData()).project).toMatchObject({
    id: scene.shop.project.id,
    name: 'Renamed',
  })
  expect(await counts()).toEqual(before)
})
