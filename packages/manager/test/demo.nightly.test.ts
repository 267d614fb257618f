// Tests `npm run demo`: both doors open, a change behind one appears behind the other, and a month of data exists.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAddresses } from '../tools/demo-doors.ts'
import { noticeKey } from '../tools/demo-world.ts'
import { openTab } from './kit/demo.ts'
import { type DevSandbox, createDevSandbox } from './kit/dev.ts'
import { launchBrowser } from './kit/pilet-page.ts'

let browser: Browser
let sandbox: DevSandbox
beforeAll(async () => {
  browser = await launchBrowser()
  sandbox = await createDevSandbox()
})
afterAll(async () => {
  await browser?.close()
  sandbox?.remove()
})

const wide = { viewport: { width: 1280, height: 800 } }
const port = (): number => Number(sandbox.env['SVC_PORT'])

/** Enters through the door on the start page. Returns the tab that the door opens. */
async function enter(start: Page, name: string): Promise<Page> {
  const [tab] = await Promise.all([
    start.context().waitForEvent('page'),
    start.getByRole('link', { name }).click(),
  ])
  return tab
}

type Answer = { data: Record<string, unknown> }
/** Sends a query from the page of the console, as Anna. */
const query = (tab: Page, text: string): Promise<Answer['data']> =>
  tab.evaluate(
    async (body) => {
      const response = await fetch('/query', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      return ((await response.json()) as Answer).data
    },
    JSON.stringify({ query: text }),
  )

/** Anna changes the notice of Birch in the settings, and Ben's page shows the change when it gets the focus. */
async function changeNotice(start: Page, shop: Page): Promise<void> {
  const settings = await enter(start, 'settings of Birch Cafés')
  await settings.getByRole('button', { name: `${noticeKey} in layer Tenant`, exact: true }).click()
  await settings.keyboard.type('Closed on Monday.')
  await settings.keyboard.press('Enter')
  await settings.getByRole('button', { name: 'Review and save' }).click()
  await settings.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
  await settings.getByText('Saved 1 value').waitFor()
  await shop.evaluate("window.dispatchEvent(new Event('focus'))")
  await shop.getByText('Closed on Monday.').waitFor()
}

test('both doors open, a change behind one appears behind the other, and Ctrl-C leaves no process', async () => {
  const run = sandbox.startDemo()
  const addresses = createAddresses(port())
  await run.wrote(`Open ${addresses.start}`)
  await run.wrote('Ctrl-C stops everything')
  const { tab: start, complaints } = await openTab(browser, addresses.start, wide)
  const shop = await enter(start, 'Open the shop as Ben')
  await shop.getByRole('heading', { name: 'Welcome, Ben Carter' }).waitFor()
  await shop.getByLabel('Number of tulips').fill('12')
  await shop.getByRole('button', { name: 'Order' }).click()
  await shop.getByText('for 12 tulips is on its way').waitFor()

  const overview = await enter(start, 'Open the console as Anna')
  await overview.getByRole('heading', { name: 'Overview' }).waitFor()
  await overview.getByText('1 application affected').waitFor()
  const calls = overview.locator('.stat').filter({ hasText: 'Failed calls' }).locator('.stat-value')
  expect(Number((await calls.textContent())?.replace(',', ''))).toBeGreaterThan(0)
  await overview.getByRole('button', { name: /^Notifications: \d+ unread$/ }).click()
  await overview.getByText('Birch Cafés ordered 12 tulips').waitFor()

  const { project } = (await query(overview, '{ project(slug: "bloom") { id } }')) as {
    project: { id: string }
  }
  const from = new Date(Date.now() - 30 * 86_400_000).toISOString()
  const range = `projectId: "${project.id}", from: "${from}", to: "${new Date().toISOString()}"`
  const { callSeries } = (await query(overview, `{ callSeries(${range}) { hour } }`)) as {
    callSeries: { hour: string }[]
  }
  // Partitions exist only for this month and the previous one: on March 1, the history may cover only 28 earlier days.
  expect(new Set(callSeries.map(({ hour }) => hour.slice(0, 10))).size).toBeGreaterThanOrEqual(28)
  const verification = await query(
    overview,
    `{ verifyAuditChain(projectId: "${project.id}") { status isComplete } }`,
  )
  expect(verification).toEqual({ verifyAuditChain: { status: 'ok', isComplete: true } })

  await changeNotice(start, shop)
  expect(complaints).toEqual([])
  // The service, PostgreSQL, Redis, the demo, npm and the backend.
  expect(sandbox.processes().length).toBeGreaterThanOrEqual(6)
  const outside = connect(port(), '127.0.0.2')
  expect(await once(outside, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }])
  process.kill(-(run.child.pid as number), 'SIGINT')
  await run.exit
  await expect.poll(() => sandbox.processes()).toEqual([])
  expect(run.output()).not.toContain('rror')
})

test.each([
  [{ SVC_ENV: 'production' }, 'the demo signs people in without a password and runs only in development'],
  [{ SVC_DATABASE_URL: 'postgres://127.0.0.1/x' }, 'the demo uses its own database'],
  [{ DEMO_PORT: '0.0.0.0:80' }, 'DEMO_PORT is not a valid port: 0.0.0.0:80'],
])('it refuses to be anything else: %o', async (env, text) => {
  const run = sandbox.startDemo(env)
  expect(await run.exit).toBe(1)
  expect(run.output()).toContain(`error: ${text}`)
  expect(sandbox.processes()).toEqual([])
})
