// Tests examples/shell in Chromium, behind the demo proxy and a real service: what the shell shows and
// refuses, and how it follows changes.
import { once } from 'node:events'
import { type IncomingMessage, request as ask } from 'node:http'
import { text } from 'node:stream/consumers'
import { emit } from '@manager/client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { anna, ben } from '../tools/demo-people.ts'
import { noticeKey } from '../tools/demo-world.ts'
import { violationsOf } from './kit/cli-login-page.ts'
import { type DemoScene, openTab, startDemoScene } from './kit/demo.ts'
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

const tell = (tenant: string, title: string, more: object = {}) =>
  emit(scene.machine, {
    applicationId: scene.shop.application.id,
    tenantId: scene.shop.tenants[tenant]?.id ?? '',
    title,
    ...more,
  })
const openShop = (options: { locale?: string; javaScriptEnabled?: boolean } = {}) =>
  openTab(browser, scene.addresses.shop, options)
const bellOf = (tab: Page) => tab.locator('#bell')
const dotOf = (tab: Page) => tab.locator('#bell.unread')
const shownIn = (tab: Page): Promise<string> => tab.locator('body').innerText()

/**
 * Returns the page configuration for Ben. Connects to 127.0.0.1, because Node may be unable to resolve the shop's host.
 */
async function readPageConfig(): Promise<string> {
  const headers = { host: new URL(scene.addresses.shop).host, cookie: `demo_person=${ben.key}` }
  const request = ask({ host: '127.0.0.1', port: scene.port, path: '/page-config.js', headers }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return text(response)
}

/** Runs a mutation as Anna, through the console door. */
async function changeAsAnna(query: string, variables: object): Promise<void> {
  const response = await fetch(`${scene.addresses.manager}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: `demo_person=${anna.key}` },
    body: JSON.stringify({ query, variables }),
  })
  expect(await response.json()).not.toHaveProperty('errors')
}

test('it shows the texts of the locale, the settings of the tenant and the pilet, accessibly and by its policy', async () => {
  const { tab, complaints } = await openShop({ locale: 'de-AT' })
  await tab.getByRole('heading', { name: 'Willkommen, Ben Carter' }).waitFor()
  await tab.getByRole('heading', { name: 'Tulpen' }).waitFor()
  await tab.getByText(/^Noch \d+ Tulpen$/).waitFor()
  const shown = await shownIn(tab)
  expect(shown).toContain('it@birch.example')
  expect(shown).toContain('Tulips are in season.')
  const root = tab.locator('html')
  expect([await root.getAttribute('lang'), await root.getAttribute('data-theme'), await tab.title()]).toEqual(
    ['de', 'dark', 'Shop, Birch Cafés'],
  )
  expect(await violationsOf(tab)).toEqual([])
  expect(complaints).toEqual([])
})

test('a pilet that loads after the inbox has been read shows the stock', async () => {
  const { tab } = await openShop()
  const stock = tab.getByText(/^Tulips left: \d+$/)
  // The handler must not run for the first page, because nothing would wait for its end.
  await stock.waitFor()
  await tab.route('**/pilet-feed/**', async (route) => {
    await dotOf(tab).waitFor()
    await route.continue()
  })
  await tab.reload()
  await expect.poll(() => stock.count()).toBe(1)
})

test('it uses the default language if the tenant has not enabled the language of the person', async () => {
  const { tab, complaints } = await openShop({ locale: 'fr-FR' })
  await tab.getByRole('heading', { name: 'Welcome, Ben Carter' }).waitFor()
  await tab.getByRole('heading', { name: 'Tulips' }).waitFor()
  expect(complaints).toEqual([])
})

test('it has a dot after an emit, lists it with its text as text, and loses the dot when all is read', async () => {
  const { tab, complaints } = await openShop()
  await dotOf(tab).waitFor()
  await bellOf(tab).click()
  await tab.getByRole('button', { name: 'Mark all as read' }).click()
  await expect.poll(() => dotOf(tab).count()).toBe(0)
  await tab.keyboard.press('Escape')
  const hostile = '<img src=x onerror="document.title=1">'
  await tell('birch', hostile, { data: { left: 17 } })
  await dotOf(tab).waitFor()
  expect(await bellOf(tab).getAttribute('aria-label')).toBe('Notifications, some unread')
  await tab.getByText('Tulips left: 17').waitFor()
  await bellOf(tab).click()
  await tab.getByRole('button', { name: hostile }).waitFor()
  expect(await tab.locator('img').count()).toBe(0)
  expect(await violationsOf(tab)).toEqual([])
  await tab.getByRole('button', { name: 'Mark all as read' }).click()
  await expect.poll(() => dotOf(tab).count()).toBe(0)
  // If the notification for Acme were delivered to Ben, it would arrive before the notification for Birch.
  await tell('acme', 'For Acme')
  await tell('birch', 'For Birch')
  await tab.getByRole('button', { name: 'For Birch' }).waitFor()
  expect(await tab.getByRole('button', { name: 'For Acme' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('an order reaches the warehouse, and Ben and Anna are notified', async () => {
  const { tab, complaints } = await openShop()
  await tab.getByLabel('Number of tulips').fill('12')
  await tab.getByRole('button', { name: 'Order' }).click()
  await tab.getByText(/Order T-\d+ for 12 tulips is on its way/).waitFor()
  await tab.getByText('Tulips left: 28').waitFor()
  await tab.getByLabel('Number of tulips').fill('29')
  await tab.getByRole('button', { name: 'Order' }).click()
  await tab.getByText('The warehouse has only 28 tulips left.').waitFor()
  const { rows } = await scene.sql.query<{ title: string }>(
    `select n.title from notification_recipients r join notifications n on n.id = r.notification_id
     where r.user_id = $1 order by r.created_at desc limit 2`,
    [anna.subject],
  )
  expect(rows.map(({ title }) => title)).toEqual([
    'Birch Cafés wanted 29 tulips',
    'Birch Cafés ordered 12 tulips',
  ])
  // Chromium logs the 409 response to the second order.
  expect(complaints.filter((line) => !line.includes('409'))).toEqual([])
})

test('it shows a changed setting when the visitor returns to the page', async () => {
  const { tab } = await openShop()
  await tab.getByText('Tulips are in season.').waitFor()
  const { rows } = await scene.sql.query<{ id: string }>('select id from settings where tenant_id = $1', [
    scene.shop.tenants['birch']?.id,
  ])
  const settingsId = rows[0]?.id
  const change = { settingsId, part: 'frontend', set: [{ Key: noticeKey, Value: 'Closed on Monday.' }] }
  await changeAsAnna(
    'mutation($projectId: ID!, $changes: [UpdateSettingsKeysInput!]!) { setSettingsKeys(projectId: $projectId, changes: $changes) { id } }',
    { projectId: scene.shop.project.id, changes: [change] },
  )
  await tab.evaluate("window.dispatchEvent(new Event('focus'))")
  await expect.poll(() => tab.locator('#notice').textContent()).toBe('Closed on Monday.')
})

test('it closes while the application is switched off for the tenant', async () => {
  const { tab } = await openShop()
  await tab.getByRole('heading', { name: 'Welcome, Ben Carter' }).waitFor()
  const { rows } = await scene.sql.query<{ id: string }>(
    'select id from tenant2applications where tenant_id = $1 and application_id = $2',
    [scene.shop.tenants['birch']?.id, scene.shop.application.id],
  )
  const setEnabled = (enabled: boolean) =>
    changeAsAnna(
      'mutation($id: ID!, $enabled: Boolean!) { updateTenant2Application(id: $id, input: { enabled: $enabled }) { id } }',
      { id: rows[0]?.id, enabled },
    )
  await setEnabled(false)
  await tab.getByRole('heading', { name: 'The shop is closed for you' }).waitFor()
  expect(await violationsOf(tab)).toEqual([])
  await setEnabled(true)
  await tab.getByRole('heading', { name: 'Welcome, Ben Carter' }).waitFor()
})

test('it runs no pilet whose signing key the page does not trust, and says so', async () => {
  const context = await browser.newContext()
  const body = await readPageConfig()
  await context.route('**/page-config.js', async (route) => {
    const without = body.replace(/"pilet_signing_keys":\{[^}]*\}/, '"pilet_signing_keys":{}')
    await route.fulfill({ contentType: 'text/javascript', body: without })
  })
  const tab = await context.newPage()
  await tab.goto(scene.addresses.shop)
  await tab.getByText('A part of this page could not be loaded: @bloom/stock').waitFor()
  expect(await tab.getByRole('heading', { name: 'Tulips', exact: true }).count()).toBe(0)
})

test('its policy stops a script that is written into the page', async () => {
  const { tab, complaints } = await openShop()
  await tab.getByRole('heading', { name: 'Tulips' }).waitFor()
  await tab.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'document.title = "it ran"'
    document.body.append(script)
  })
  await expect.poll(() => complaints.join('\n')).toContain('Content Security Policy')
  expect(await tab.title()).toBe('Shop, Birch Cafés')
})

test('without JavaScript it says what is missing', async () => {
  const { tab } = await openShop({ javaScriptEnabled: false })
  await tab.locator('noscript p').waitFor()
  expect(await shownIn(tab)).toContain('This page needs JavaScript')
})

test('the session ends when Ben signs out', async () => {
  const { tab } = await openShop()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.getByRole('heading', { name: 'You are signed out' }).waitFor()
  expect(await violationsOf(tab)).toEqual([])
  expect(await tab.context().cookies()).toEqual([])
  await tab.getByRole('link', { name: 'Sign in as Ben Carter' }).click()
  await tab.getByRole('heading', { name: 'Welcome, Ben Carter' }).waitFor()
})
