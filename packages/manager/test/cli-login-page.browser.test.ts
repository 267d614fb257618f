// Tests the terminal login page in Chromium, behind nginx as configured in docs/guides/proxies/sign-in-people.md.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Started } from '@manager/harness/cli-login.ts'
import {
  type LoginScene,
  alice,
  bob,
  complaintsOf,
  openTab,
  ownerOf,
  startForeignSite,
  startLoginScene,
  violationsOf,
} from './kit/cli-login-page.ts'
import { launchBrowser } from './kit/pilet-page.ts'

let browser: Browser
let scene: LoginScene
let foreign: Awaited<ReturnType<typeof startForeignSite>>
beforeAll(async () => {
  browser = await launchBrowser()
  foreign = await startForeignSite()
  scene = await startLoginScene()
})
/** Browser contexts that several tests share. */
const shared = new Set<BrowserContext>()
afterEach(async () => {
  for (const context of browser.contexts()) if (!shared.has(context)) await context.close()
})
afterAll(async () => {
  await browser?.close()
  await foreign?.close()
  await scene?.close()
})

const titleOf = (tab: Page): Promise<string | null> => tab.locator('h1').textContent()
const compare = (tab: Page) => tab.getByRole('checkbox').check()
const press = async (tab: Page, name: 'Approve' | 'Deny'): Promise<void> => {
  if (name === 'Approve') await compare(tab)
  await tab.getByRole('button', { name }).click()
}
/** Presses a key and waits for the resulting page. */
const pressAndLoad = async (tab: Page, key: string): Promise<number | undefined> => {
  const [response] = await Promise.all([
    tab.waitForResponse((one) => one.request().isNavigationRequest()),
    tab.keyboard.press(key),
  ])
  await tab.waitForLoadState()
  return response.status()
}
const focused = (tab: Page) =>
  tab.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement as Element)
    return { text: document.activeElement?.textContent, outline: `${outlineStyle} ${outlineWidth}` }
  })
/** Opens the page of a new login in a tab in which Alice is signed in. */
const openLogin = async (more: object = {}): Promise<{ tab: Page; login: Started }> => {
  const login = await scene.terminal.login(more)
  const tab = await openTab(browser, scene, alice)
  await tab.goto(login.verification_uri)
  return { tab, login }
}

describe('deciding', () => {
  test('[cli-login.verification-uri] [cli-login.page] the address of the terminal opens the page, which says what is asked by whom', async () => {
    const login = await scene.terminal.login({ token_name: 'my laptop' }, { 'user-agent': 'manager-cli/1.2' })
    const tab = await openTab(browser, scene, alice)
    const complaints = complaintsOf(tab)
    const response = await tab.goto(login.verification_uri)
    expect([response?.status(), await titleOf(tab)]).toEqual([200, 'Sign in to the command line?'])
    expect(await tab.locator('.code').textContent()).toBe(login.user_code)
    const shown = await tab.locator('dd').allTextContents()
    for (const text of ['Alice Moser (alice@example.com)', 'my laptop', '127.0.0.1', 'manager-cli/1.2'])
      expect(shown).toContain(text)
    expect(await scene.statusOf(login.user_code)).toBe('pending')
    expect(complaints).toEqual([])
  })

  test('[cli-login.decide] [cli-login.sealed-token] approving with the keyboard alone gives the terminal a token that works', async () => {
    const { tab, login } = await openLogin({ token_name: 'by keyboard' })
    await tab.keyboard.press('Tab')
    expect(await focused(tab)).toEqual({ text: '', outline: 'solid 3px' })
    await tab.keyboard.press('Space')
    await tab.keyboard.press('Tab')
    expect(await focused(tab)).toEqual({ text: 'Approve', outline: 'solid 3px' })
    await tab.keyboard.press('Tab')
    expect(await focused(tab)).toEqual({ text: 'Deny', outline: 'solid 3px' })
    await tab.keyboard.press('Shift+Tab')
    expect(await pressAndLoad(tab, 'Enter')).toBe(200)
    expect(await titleOf(tab)).toBe('Approved')
    const { body } = await scene.terminal.poll(login.session_id)
    expect(body).toMatchObject({ token_name: 'by keyboard' })
    const token = scene.terminal.open(body['sealed_token'])
    expect(await ownerOf(scene.proxy.url, token)).toEqual({ data: { me: { id: alice.id } } })
  })

  test('[cli-login.csrf] the form of the page works although Chromium sends it with the origin null', async () => {
    const { tab, login } = await openLogin()
    const sent = tab.waitForRequest((request) => request.method() === 'POST')
    await press(tab, 'Approve')
    const { origin, referer, 'sec-fetch-site': site } = await (await sent).allHeaders()
    expect({ origin, referer, site }).toEqual({ origin: 'null', referer: undefined, site: 'same-origin' })
    await tab.locator('h1', { hasText: 'Approved' }).waitFor()
    expect(await scene.statusOf(login.user_code)).toBe('approved')
  })

  test('the code has to be compared before it can be approved, and not before it is denied', async () => {
    const { tab, login } = await openLogin({ token_name: 'not compared' })
    await tab.getByRole('button', { name: 'Approve' }).click()
    expect(await tab.getByRole('checkbox').evaluate((box) => box.matches(':focus:invalid'))).toBe(true)
    expect([await titleOf(tab), await scene.statusOf(login.user_code)]).toEqual([
      'Sign in to the command line?',
      'pending',
    ])
    await press(tab, 'Deny')
    await tab.locator('h1', { hasText: 'Denied' }).waitFor()
  })

  test('[cli-login.poll-status] denying gives the terminal no token', async () => {
    const { tab, login } = await openLogin({ token_name: 'unwanted' })
    await press(tab, 'Deny')
    await tab.locator('h1', { hasText: 'Denied' }).waitFor()
    expect((await scene.terminal.poll(login.session_id)).body).toEqual({ status: 'denied' })
    expect(await scene.tokenCount('unwanted')).toBe(0)
  })

  test('[cli-login.page-errors] a login that ends while the page is open is no longer approved', async () => {
    const { tab, login } = await openLogin({ token_name: 'late' })
    await scene.expire(login.user_code)
    await compare(tab)
    await tab.getByRole('button', { name: 'Approve' }).focus()
    expect(await pressAndLoad(tab, 'Enter')).toBe(410)
    expect(await titleOf(tab)).toBe('This is no longer possible')
    expect((await tab.goto(login.verification_uri))?.status()).toBe(410)
    expect(await scene.tokenCount('late')).toBe(0)
  })

  test('[cli-login.page-errors] of two tabs of one login, the second is told that it is too late', async () => {
    const { tab, login } = await openLogin({ token_name: 'two tabs' })
    const second = await tab.context().newPage()
    await second.goto(login.verification_uri)
    await press(tab, 'Approve')
    await tab.locator('h1', { hasText: 'Approved' }).waitFor()
    await compare(second)
    await second.getByRole('button', { name: 'Approve' }).focus()
    expect(await pressAndLoad(second, 'Enter')).toBe(410)
    expect(await titleOf(second)).toBe('This is no longer possible')
    expect(await scene.tokenCount('two tabs')).toBe(1)
  })
})

describe('finding the page', () => {
  test('[cli-login.page-without-identity] who is not signed in gets a page that says so', async () => {
    const login = await scene.terminal.login()
    const tab = await openTab(browser, scene, null)
    const response = await tab.goto(login.verification_uri)
    expect([response?.status(), response?.headers()['content-type']]).toEqual([
      401,
      'text/html; charset=utf-8',
    ])
    expect(await titleOf(tab)).toBe('You are not signed in')
  })

  test('without a code the page asks for it, and takes it in lower case, by keyboard', async () => {
    const login = await scene.terminal.login({ token_name: 'typed' })
    const tab = await openTab(browser, scene, alice)
    const complaints = complaintsOf(tab)
    await tab.goto(`${scene.proxy.url}/cli/authorize`)
    await tab.keyboard.press('Tab')
    expect((await focused(tab)).outline).toBe('solid 3px')
    await tab.keyboard.type(login.user_code.toLowerCase().replace('-', ''))
    expect(await pressAndLoad(tab, 'Enter')).toBe(200)
    expect(await tab.locator('.code').textContent()).toBe(login.user_code)
    await press(tab, 'Approve')
    await tab.locator('h1', { hasText: 'Approved' }).waitFor()
    expect(await scene.tokenCount('typed')).toBe(1)
    expect(complaints).toEqual([])
  })

  test('nginx replaces what a browser says of itself', async () => {
    const { verification_uri } = await scene.terminal.login({}, { 'x-forwarded-for': '203.0.113.9' })
    const pretended = {
      accept: 'text/html',
      'x-proxy-auth': 'guessed',
      'x-token-subject': alice.id,
      'x-token-user-email': 'eve@example.com',
      'x-token-user-name': 'Eve',
    }
    const asBob = await fetch(verification_uri, { headers: { ...pretended, cookie: 'session=bob' } })
    const text = await asBob.text()
    expect(asBob.status).toBe(200)
    expect(text).toContain(`${bob.name} (${bob.email})`)
    expect(text).not.toMatch(/Eve|203\.0\.113\.9/)
    expect((await fetch(verification_uri, { headers: pretended })).status).toBe(401)
  })
})

describe('hostile terminals and pages', () => {
  test('[cli-login.page-headers] what a terminal says of itself is text, and never HTML', async () => {
    const hostile = `"'><img src=x onerror=alert(1)><script>alert(2)</script></dd><b style=color:red>&amp;`
    const plain = await openLogin()
    const elements = (tab: Page) => tab.locator('*').count()
    const login = await scene.terminal.login({ token_name: hostile }, { 'user-agent': hostile })
    const tab = await openTab(browser, scene, alice)
    const complaints = complaintsOf(tab)
    await tab.goto(login.verification_uri)
    const shown = await tab.locator('dd').allTextContents()
    expect(shown).toContain(hostile)
    expect(shown).toContain(`${hostile.slice(0, 80)}…`)
    expect(await elements(tab)).toBe(await elements(plain.tab))
    await press(tab, 'Approve')
    await tab.locator('h1', { hasText: 'Approved' }).waitFor()
    expect(await tab.locator('strong').textContent()).toBe(hostile)
    expect(await tab.locator('img, script, b').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  test('[cli-login.page-headers] a page of another origin cannot frame it', async () => {
    const login = await scene.terminal.login()
    foreign.show(`<iframe src="${login.verification_uri}"></iframe>`)
    for (const url of foreign.urls) {
      const tab = await openTab(browser, scene, alice)
      const complaints = complaintsOf(tab)
      await tab.goto(url)
      // The frame may load slightly later than its parent.
      await expect.poll(() => tab.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
      expect(await tab.frames()[1]?.locator('form').count()).toBe(0)
      await expect.poll(() => complaints.join('\n')).toMatch(/frame-ancestors|X-Frame-Options/)
    }
  })

  test('[cli-login.csrf] a form of another origin is refused, even with all that the page has in its own', async () => {
    const { tab: own, login } = await openLogin({ token_name: 'forged' })
    const formToken = (await own.locator('[name=form_token]').getAttribute('value')) ?? ''
    expect(formToken).not.toBe('')
    const field = (name: string, value: string) => `<input name="${name}" value="${value}">`
    for (const token of [formToken, 'guessed'])
      for (const url of foreign.urls) {
        foreign.show(`<form method="post" action="${scene.proxy.url}/cli/authorize">
          ${field('code', login.user_code)}${field('form_token', token)}${field('decision', 'approve')}${field('compared', 'yes')}
          </form><script>document.forms[0].submit()</script>`)
        const tab = await openTab(browser, scene, alice)
        const answered = tab.waitForResponse(
          (response) => response.url() === `${scene.proxy.url}/cli/authorize`,
        )
        await tab.goto(url)
        expect((await answered).status()).toBe(403)
        await tab.locator('h1', { hasText: 'This request was rejected' }).waitFor()
        // Chromium sends a new cookie without SameSite even with cross-site form submissions.
        const { cookie } = await (await answered).request().allHeaders()
        expect(cookie).toBe('session=alice')
      }
    expect([await scene.statusOf(login.user_code), await scene.tokenCount('forged')]).toEqual(['pending', 0])
  })

  test('[cli-login.csrf] the form of one person is of no use to another', async () => {
    const { tab, login } = await openLogin({ token_name: 'lent' })
    await tab.context().addCookies([{ name: 'session', value: bob.session, url: scene.proxy.url }])
    await compare(tab)
    await tab.getByRole('button', { name: 'Approve' }).focus()
    expect(await pressAndLoad(tab, 'Enter')).toBe(403)
    expect([await scene.statusOf(login.user_code), await scene.tokenCount('lent')]).toEqual(['pending', 0])
  })
})

describe('every page', () => {
  const show: Record<string, (tab: Page) => Promise<unknown>> = {
    consent: async (tab) => tab.goto((await scene.terminal.login()).verification_uri),
    code: (tab) => tab.goto(`${scene.proxy.url}/cli/authorize`),
    approved: async (tab) => {
      await tab.goto((await scene.terminal.login()).verification_uri)
      await press(tab, 'Approve')
      await tab.locator('h1', { hasText: 'Approved' }).waitFor()
    },
    denied: async (tab) => {
      await tab.goto((await scene.terminal.login()).verification_uri)
      await press(tab, 'Deny')
      await tab.locator('h1', { hasText: 'Denied' }).waitFor()
    },
    'unknown code': (tab) => tab.goto(`${scene.proxy.url}/cli/authorize?code=BBBB-BBBB`),
    over: async (tab) => {
      const { user_code, verification_uri } = await scene.terminal.login()
      await scene.expire(user_code)
      await tab.goto(verification_uri)
    },
    'not signed in': async (tab) => {
      await tab.context().clearCookies()
      await tab.goto(`${scene.proxy.url}/cli/authorize`)
    },
  }
  const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
    [1024, 360].map((width) => ({ colorScheme, width })),
  )

  const tabs = new Map<string, Page>()
  beforeAll(async () => {
    for (const [name, visit] of Object.entries(show)) {
      const tab = await openTab(browser, scene, alice)
      shared.add(tab.context())
      await visit(tab)
      tabs.set(name, tab)
    }
  })
  afterAll(async () => {
    for (const context of shared) await context.close()
    shared.clear()
  })

  test.each(looks)('is without faults that axe knows, $colorScheme and $width pixels wide', async (look) => {
    for (const [name, tab] of tabs) {
      await tab.bringToFront()
      await tab.emulateMedia({ colorScheme: look.colorScheme })
      await tab.setViewportSize({ width: look.width, height: 800 })
      expect([name, await violationsOf(tab)]).toEqual([name, []])
    }
  })

  test.each([320, 360])('needs no scrolling to the side, %i pixels wide', async (width) => {
    const tab = await openTab(browser, scene, alice, { viewport: { width, height: 640 } })
    const widthOf = () => tab.evaluate(() => document.documentElement.scrollWidth)
    const long = await scene.terminal.login(
      { token_name: 'x'.repeat(100) },
      { 'user-agent': `cli/${'9'.repeat(300)}` },
    )
    await tab.goto(long.verification_uri)
    expect(await widthOf()).toBeLessThanOrEqual(width)
    for (const [name, visit] of Object.entries(show)) {
      await visit(tab)
      expect([name, (await widthOf()) <= width]).toEqual([name, true])
    }
  })
})
