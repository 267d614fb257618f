// Tests the notification bell from docs/start/notify-a-person.md in Chromium, behind nginx as configured in
// guides/frontends/show-notifications.md. One person has two tabs, and a person in a different tenant has one
// tab. comms-client.test.ts tests the client without a browser.
import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type BellScene, startBellScene } from './kit/comms-bell.ts'
import { type ClientState, connectComms } from './kit/comms-client.ts'
import { waitForTab } from './kit/comms-page.ts'
import { launchBrowser } from './kit/pilet-page.ts'

let browser: Browser
let scene: BellScene
let [first, second, foreign]: Page[] = []
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await startBellScene(browser)
  for (const tab of ([first, second, foreign] = await openTabs())) await waitForTab(tab, { note: '' })
})
afterAll(async () => {
  await browser?.close()
  await scene?.close()
})

const openTabs = async (): Promise<[Page, Page, Page]> => [
  await scene.open(scene.alice),
  await scene.open(scene.alice),
  await scene.open(scene.bob),
]
const mine = (): Page[] => [first as Page, second as Page]
const bobs: string[] = []
/** Sends a notification to Bob. An earlier notification that was wrongly delivered to Bob would arrive first. */
const expectForeignUntouched = async (): Promise<void> => {
  bobs.unshift(`for Bob, number ${bobs.length + 1}`)
  await scene.emit(scene.bob, { title: bobs[0] })
  await waitForTab(foreign as Page, { titles: bobs, unread: bobs })
}

describe('tabs that are open', () => {
  test('[websocket.notification] a notification appears in both tabs of its recipient, and not in another tenant', async () => {
    await scene.emit(scene.alice, { title: 'Order 17 is on its way', severity: 'success' })
    for (const tab of mine())
      expect(await waitForTab(tab, { titles: ['Order 17 is on its way'] })).toMatchObject({
        hasDot: true,
        note: 'You have unread notifications.',
      })
    await expectForeignUntouched()
  })

  test('[websocket.marks] what is read in one tab is read in the other', async () => {
    await scene.emit(scene.alice, { title: 'The warehouse closes at noon', severity: 'warning' })
    for (const tab of mine())
      await waitForTab(tab, { unread: ['The warehouse closes at noon', 'Order 17 is on its way'] })
    const [here, there] = mine() as [Page, Page]
    await here.locator('#bell').click()
    await here.getByRole('button', { name: 'Order 17 is on its way' }).click()
    for (const tab of mine())
      await waitForTab(tab, { unread: ['The warehouse closes at noon'], hasDot: true })
    await there.locator('#bell').click()
    await there.getByRole('button', { name: 'Mark all as read' }).click()
    for (const tab of mine()) await waitForTab(tab, { unread: [], hasDot: false, label: 'Notifications' })
    for (const tab of mine()) await tab.keyboard.press('Escape')
    await expectForeignUntouched()
  })

  test('[websocket.live] live data appears in both tabs, and not in another tenant', async () => {
    await scene.publish(scene.alice, { topic: 'stock.tulips', data: { left: 12 } })
    for (const tab of mine()) await tab.locator('#stock', { hasText: '12' }).waitFor()
    await expectForeignUntouched()
    expect(await foreign?.locator('#stock').textContent()).toBe('many')
  })

  test('everything works with the keyboard alone', async () => {
    const [tab] = mine() as [Page]
    await scene.emit(scene.alice, { title: 'By hand', body: 'Press Enter.' })
    await waitForTab(tab, { unread: ['By hand'] })
    await tab.locator('#bell').focus()
    await tab.keyboard.press('Enter')
    await expect.poll(() => tab.locator('#inbox').isVisible()).toBe(true)
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Tab')
    expect(await tab.evaluate(() => document.activeElement?.textContent)).toBe('By hand')
    // A new notification must not move the focus.
    await scene.emit(scene.alice, { title: 'Meanwhile' })
    await waitForTab(tab, { unread: ['Meanwhile', 'By hand'] })
    await tab.keyboard.press('Enter')
    await waitForTab(tab, { unread: ['Meanwhile'] })
    await tab.keyboard.press('Escape')
    await expect.poll(() => tab.locator('#inbox').isVisible()).toBe(false)
    expect(await tab.evaluate(() => document.activeElement?.id)).toBe('bell')
  })

  test('what a notification says is text, and never HTML', async () => {
    const [tab] = mine() as [Page]
    const hostile = '<img src=x onerror="document.title=1">'
    await scene.emit(scene.alice, { title: hostile, body: hostile })
    await tab.locator('#list li', { hasText: hostile }).first().waitFor({ state: 'attached' })
    expect([await tab.locator('img').count(), await tab.title()]).toEqual([0, 'Store'])
  })
})

describe('the service goes and comes back', () => {
  test('[websocket.close-shutdown] tabs come back by themselves, and have what came meanwhile', async () => {
    const titles = (await waitForTab(first as Page, { hasDot: true })).titles
    // Wait for all tabs: a tab that has not loaded its inbox yet cannot load it while the service is down.
    for (const tab of mine()) await waitForTab(tab, { titles })
    await scene.stop()
    for (const tab of mine()) await waitForTab(tab, { note: 'Connecting …', titles })
    await scene.start()
    // At this point, the tabs may or may not have reconnected.
    await scene.emit(scene.alice, { title: 'After the restart' })
    const expected = { titles: ['After the restart', ...titles], note: 'You have unread notifications.' }
    for (const tab of mine()) expect(await waitForTab(tab, expected)).toMatchObject(expected)
  })
})

describe('nginx as the page configures it', () => {
  const asAlice = { cookie: 'session=alice' }
  const inboxOf = async (headers: Record<string, string>) => {
    const response = await fetch(`${scene.proxy.url}/comms/notifications`, { headers })
    return {
      status: response.status,
      body: (await response.json()) as { notifications?: { title: string }[] },
    }
  }

  test('[comms.identity] replaces what a browser says of itself', async () => {
    const { alice, bob } = scene
    const { titles } = await waitForTab(first as Page, { hasDot: true })
    const pretended = { 'x-user-id': alice.id, 'x-tenant-id': alice.tenantId, 'x-proxy-auth': 'guessed' }
    const own = await inboxOf({ ...asAlice, 'x-user-id': bob.id, 'x-tenant-id': bob.tenantId })
    expect([own.status, own.body.notifications?.map(({ title }) => title)]).toEqual([200, titles])
    const others = await inboxOf({ cookie: 'session=bob', ...pretended })
    expect([others.status, others.body.notifications?.map(({ title }) => title)]).toEqual([200, bobs])
    expect(await inboxOf(pretended)).toMatchObject({
      status: 401,
      body: { error: expect.stringMatching(/^no authenticated user/) as unknown },
    })
  })

  test('a page of another host gets no websocket, one of the same host does', async () => {
    const open = (origin: string): Promise<number | 'hello'> =>
      new Promise((resolve, reject) => {
        const address = `${scene.proxy.url.replace('http', 'ws')}/comms/ws`
        const socket = new WebSocket(address, { headers: asAlice, origin })
        socket.once('unexpected-response', (request, response) => {
          request.destroy()
          resolve(response.statusCode ?? 0)
        })
        socket.once('message', () => {
          socket.close()
          resolve('hello')
        })
        socket.once('error', reject)
      })
    expect(await open('https://evil.example')).toBe(403)
    expect(await open(scene.proxy.url)).toBe('hello')
  })
})

test('the client of the page works in Node too, where both of what it uses can be given', async () => {
  const cookie = 'session=alice'
  const states: ClientState[] = []
  const client = connectComms(`${scene.proxy.url}/comms`, {
    onChange: (state) => states.push(state),
    fetch: (address, init) => {
      const withCookie = new Headers(init.headers)
      withCookie.set('cookie', cookie)
      return fetch(address, { ...init, headers: withCookie })
    },
    WebSocket: class extends globalThis.WebSocket {
      constructor(address: string) {
        // Node's WebSocket accepts headers, but the browser types do not declare them.
        super(address, { headers: { cookie } } as unknown as string[])
      }
    },
  })
  const { titles } = await waitForTab(first as Page, { note: 'You have unread notifications.' })
  const shown = () => states.at(-1)?.notifications.map(({ title }) => title)
  await expect.poll(shown).toEqual(titles)
  await scene.emit(scene.alice, { title: 'In Node' })
  await expect.poll(shown).toEqual(['In Node', ...titles])
  expect(await client.markRead('all')).toBeGreaterThan(0)
  await expect.poll(() => states.at(-1)).toMatchObject({ unread: false, connected: true, ended: null })
  for (const tab of mine()) await waitForTab(tab, { hasDot: false })
  client.close()
})

test('[websocket.close-revoked] a tab whose user loses access says so, and does not come back', async () => {
  const [tab] = mine() as [Page]
  let sockets = 0
  tab.on('websocket', () => sockets++)
  await scene.sql.query('delete from user2tenants where user_id = $1', [scene.alice.id])
  await waitForTab(tab, { note: 'Please reload this page.' })
  // A client that reconnects does so within 0.5 s, because the jitter is shorter than that.
  await setTimeout(3_000)
  expect(sockets).toBe(0)
})
