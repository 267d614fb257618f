// Variants of the failures in states.browser.test.ts.
import { createToken } from '@manager/harness/credentials.ts'
import { describe, expect, test } from 'vitest'
import { expectAccessible, expectTexts, typeTenant, useFailureScene } from './kit/failures.ts'
import { onOperation, redirectToSignIn, rejectFor } from './kit/requests.ts'

const { scene, ada, openPage, listTenants } = useFailureScene()

describe('a change whose connection drops after the request was sent', () => {
  test('is not told apart from a proxy that loses the Manager', async () => {
    const { page } = await openPage('/p/main/tenants')
    const { failure, create, expectInput } = await typeTenant(page, 'Canal and Sons')
    await onOperation(page, 'tenantCreate', (route) =>
      route.fulfill({ status: 504, body: 'gateway timeout' }),
    )
    await create()
    await expectTexts(failure, 'It is unknown whether the change was saved.')
    await expectInput()
  })
})

describe('a session that has ended', () => {
  test('is replaced by the session of another person: the page is loaded again without its data and changes', async () => {
    const gita = await scene.member('gita', 'maintainer')
    const { page, context, complaints, main } = await openPage('/p/main/access', gita, { hasClock: true })
    // The browser asks before it leaves a page that the person has clicked and that has unsaved changes.
    await main.getByRole('gridcell', { name: 'on', exact: true }).click()
    await page.getByRole('button', { name: 'Apply 1 change' }).waitFor()
    const { token } = await createToken(scene.service, ada)
    await context.setExtraHTTPHeaders({ authorization: `Bearer ${token}` })
    await page.clock.fastForward('01:05')
    await page.getByRole('button', { name: 'Account of ada' }).waitFor()
    expect(page.url()).toBe(`${scene.origin}/console/`)
    expect(complaints).toEqual([])
  })

  test('is also known from a redirect, whose status a browser hides, and the sign-in returns here', async () => {
    const { page, walk, main } = await openPage('/p/main/tenants')
    await page.route('**/query', redirectToSignIn)
    await walk.go('/p/main/members')
    await expectTexts(main.locator('.state'), 'Your session has ended', 'You will return to this page.')
    await expectTexts(main.locator('.notices'), 'Your session ended.')
    await expectAccessible(page)
    const link = main.locator('.state').getByRole('link', { name: 'Sign in' })
    expect(await link.getAttribute('href')).toBe(`${scene.origin}/console/p/main/members`)
    await page.unroute('**/query')
    await link.click()
    await main.locator('.table-row', { hasText: 'ada' }).waitFor()
    expect(page.url()).toBe(`${scene.origin}/console/p/main/members`)
    expect(await main.locator('.notices .note').count()).toBe(0)
  })
})

describe('a Manager that asks to wait', () => {
  test('503 for a read: the page recovers by itself', async () => {
    const { page, main, walk } = await openPage('/p/main/applications')
    let count = 0
    const reject = rejectFor(503, 1, 'unavailable')
    // The client itself retries a read twice.
    await onOperation(page, 'tenantList', (route) => (count++ < 3 ? reject(route) : route.fallback()))
    const isOpen = walk.go('/p/main/tenants')
    await expectTexts(main, 'The Manager is overloaded or restarting', 'Retries in 1 s')
    await main.locator('.table-row', { hasText: 'main-tenant' }).waitFor()
    await isOpen
    expect(count).toBe(4)
  })

  test.each([
    [429, 'rate_limited', 'Too many requests.'],
    [503, 'unavailable', 'The Manager is overloaded or restarting.'],
  ] as const)('%i for a change says how long, and the input stays', async (status, code, text) => {
    const { page } = await openPage('/p/main/tenants')
    const { form, failure, create, expectInput } = await typeTenant(page, `Waits ${status}`)
    const restore = await onOperation(page, 'tenantCreate', rejectFor(status, 40, code))
    await create()
    await expectTexts(failure, text, 'Try again in 40 s.')
    await expectInput()
    await restore()
    await create()
    await form.waitFor({ state: 'detached' })
    expect(await listTenants(`Waits ${status}`)).toBe(1)
  })
})

describe('a browser without a connection', () => {
  test('says so for a page that is not loaded yet, and does not reload the tab in vain', async () => {
    const { page, context, main } = await openPage('/p/main/tenants')
    await context.setOffline(true)
    await page.locator('.side-bar-item', { hasText: 'Members' }).click()
    await expectTexts(main.locator('.state'), 'You are offline', 'This page is not loaded yet.')
    expect(await main.getByText('A new version of the console is installed.').count()).toBe(0)
    await expectAccessible(page)
    const reload = main.getByRole('button', { name: 'Reload' })
    expect(await reload.isEnabled()).toBe(false)
    await context.setOffline(false)
    await expect.poll(() => reload.isEnabled()).toBe(true)
    await reload.click()
    await main.locator('.table-row', { hasText: 'ada' }).waitFor()
  })
})

describe('a tab that is older than the installed version', () => {
  test('keeps the page and what was typed when only a menu or the search is gone', async () => {
    const { page, walk, main } = await openPage('/p/main/settings')
    await page.getByRole('button', { name: 'Add key' }).first().click()
    const input = page.getByRole('textbox', { name: /^New key/ })
    await input.fill('mail.from')
    await page.route(/\/assets\/(search-dialog|inbox-popup)[^/]*$/, (route) => route.fulfill({ status: 404 }))
    await page.keyboard.press('Control+k')
    await expectTexts(main.locator('.notices'), 'A new version of the console is installed.')
    await walk.settle()
    expect(await input.inputValue()).toBe('mail.from')
  })
})
