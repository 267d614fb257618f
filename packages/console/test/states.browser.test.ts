// Every failure has a state that says what happened and what to do, and that keeps what the person has typed.
import { createToken } from '@manager/harness/credentials.ts'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { dropResponse, onOperation, redirectToSignIn, rejectFor } from './kit/requests.ts'
import { type Visit, useConsole } from './kit/scene.ts'
import { type Walk, createWalk } from './kit/walk.ts'

const scene = useConsole()
let ada: Person
beforeAll(async () => {
  ada = await scene.member('ada', 'maintainer')
})

type Opened = Visit & { walk: Walk; main: Locator }

/** With `hasClock`, the test can advance the clock of the page. */
async function openPage(path: string, person: Person = ada, { hasClock = false } = {}): Promise<Opened> {
  const visit = await scene.visit(person)
  if (hasClock) await visit.page.clock.install()
  const walk = createWalk(visit)
  await walk.go(path)
  return { ...visit, walk, main: visit.page.locator('main') }
}

/** Opens the form for a new tenant and enters a name. */
async function typeTenant(page: Page, name: string) {
  await page.getByRole('button', { name: 'New tenant' }).first().click()
  const form = page.getByRole('dialog')
  const input = form.getByLabel('Name')
  await input.fill(name)
  return {
    form,
    failure: form.getByRole('alert'),
    create: () => form.getByRole('button', { name: 'Create' }).click(),
    expectInput: async () => expect(await input.inputValue()).toBe(name),
  }
}

/** Waits until an element contains all of these texts. */
async function expectTexts(element: Locator, ...texts: string[]): Promise<void> {
  for (const text of texts) await element.getByText(text).first().waitFor()
}

const expectAccessible = async (page: Page): Promise<void> => expect(await violationsOf(page)).toEqual([])
const listTenants = async (name: string): Promise<number> =>
  (await scene.service.sql.query('select id from tenants where name = $1', [name])).rowCount ?? 0

/** Ends every session of a person, as a revoked credential does. */
const endSessions = (person: Person): Promise<unknown> =>
  scene.service.sql.query('update personal_access_tokens set revoked = true where user_id = $1', [person.id])

describe('a change whose connection drops after the request was sent', () => {
  test('has an unknown outcome: the person looks first, and the input stays', async () => {
    const { page, walk, main } = await openPage('/p/main/tenants')
    const { form, failure, create, expectInput } = await typeTenant(page, 'Baltic Cargo')
    const restore = await onOperation(page, 'tenantCreate', dropResponse)
    await create()
    await expectTexts(
      failure,
      'It is unknown whether the change was saved. The connection failed before the response arrived. Reload and look before you repeat it.',
    )
    await expectAccessible(page)
    await expectInput()
    await failure.getByRole('button', { name: 'Reload' }).click()
    await expectTexts(failure, 'If it shows your change, close the form. Otherwise save again.')
    await expectInput()
    // The list behind the form shows that the change was saved, exactly once.
    await main.locator('.table-row', { hasText: 'Baltic Cargo' }).waitFor()
    expect(await listTenants('Baltic Cargo')).toBe(1)
    await restore()
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.getByRole('button', { name: 'Discard' }).click()
    await walk.settle()
    expect(await form.count()).toBe(0)
  })

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
  test('is a note with a sign-in in a new tab: afterwards the same form is saved', async () => {
    const person = await scene.member('grace', 'maintainer')
    const { page, context, main } = await openPage('/p/main/tenants', person)
    const { form, failure, create, expectInput } = await typeTenant(page, 'Delta Reefer')
    await endSessions(person)
    await create()
    await expectTexts(failure, 'Your session has ended. Nothing was saved.', 'then repeat the change here')
    await expectInput()
    await expectAccessible(page)
    const link = failure.getByRole('link', { name: 'Sign in' })
    expect(await link.getAttribute('target')).toBe('_blank')
    expect(await link.getAttribute('href')).toBe(page.url())
    await expectTexts(main.locator('.notices'), 'Your session ended.', 'This tab keeps your input.')
    expect(await listTenants('Delta Reefer')).toBe(0)

    const { token } = await createToken(scene.service, person)
    await context.setExtraHTTPHeaders({ authorization: `Bearer ${token}` })
    await create()
    await form.waitFor({ state: 'detached' })
    await main.locator('.notices .note').waitFor({ state: 'detached' })
    expect(await listTenants('Delta Reefer')).toBe(1)
  })

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
  test('429 for a read says how long, and a person can try at once', async () => {
    const { page, walk, main } = await openPage('/p/main/applications')
    const restore = await onOperation(page, 'tenantList', rejectFor(429, 40, 'rate_limited'))
    await walk.go('/p/main/tenants')
    await expectTexts(main, 'Too many requests', 'The Manager accepts further requests after a short wait.')
    await expectTexts(main, 'Retries in 3')
    await expectAccessible(page)
    await restore()
    await main.getByRole('button', { name: 'Try again' }).click()
    await main.locator('.table-row', { hasText: 'main-tenant' }).waitFor()
  })

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
  test('keeps its data with their age and what was typed, and continues when it is back', async () => {
    const { page, context, main } = await openPage('/p/main/tenants')
    const { form, failure, create, expectInput } = await typeTenant(page, 'Offline Ltd')
    await context.setOffline(true)
    await expectTexts(main.locator('.notices'), 'No connection.', 'The data of this page was loaded')
    await main.locator('.table-row', { hasText: 'main-tenant' }).waitFor()
    await create()
    await expectTexts(failure, 'You are offline. Nothing was saved.')
    await expectInput()
    await expectAccessible(page)
    await context.setOffline(false)
    await main.locator('.notices .note').waitFor({ state: 'detached' })
    await create()
    await form.waitFor({ state: 'detached' })
    expect(await listTenants('Offline Ltd')).toBe(1)
  })

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
  test('says so instead of a page whose file is gone, and Reload opens that page', async () => {
    const { page, main } = await openPage('/p/main/tenants')
    const files = /\/assets\/members-page-[^/]*\.(js|css)$/
    await page.route(files, (route) => route.fulfill({ status: 404, body: 'not found' }))
    await page.locator('.side-bar-item', { hasText: 'Members' }).click()
    await expectTexts(
      main.locator('.state'),
      'A new version of the console is installed.',
      'This tab has an older version. Reload it to continue.',
    )
    await expectAccessible(page)
    await page.unroute(files)
    await main.locator('.state').getByRole('button', { name: 'Reload' }).click()
    await main.locator('.table-row', { hasText: 'ada' }).waitFor()
    expect(await main.locator('.notices .note').count()).toBe(0)
  })

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

describe('a part that fails', () => {
  test('leaves the other parts of the page alone, and recovers by itself', async () => {
    const { page, walk, main } = await openPage('/p/main/tenants')
    const requestId = '01a1dce9-d14b-710f-8f2a-5c1f9be20ecb'
    const errors = [{ message: 'internal error', extensions: { code: 'internal', request_id: requestId } }]
    const restore = await onOperation(page, 'overviewChanges', (route) =>
      route.fulfill({ status: 500, json: { errors, data: null } }),
    )
    await walk.go('/p/main/overview')
    const failed = main.getByRole('region', { name: 'Last changes' })
    await expectTexts(failed.getByRole('alert'), 'Something went wrong', requestId)
    await expectAccessible(page)
    await expectTexts(main.getByRole('region', { name: 'Backends' }), 'Application of main')
    expect(await main.getByRole('alert').count()).toBe(1)
    await restore()
    await failed.getByRole('button', { name: 'Try again' }).click()
    await failed.getByRole('alert').waitFor({ state: 'detached' })
  })
})

describe('a project without access', () => {
  test('looks like one that does not exist, and leads to the own projects', async () => {
    const stranger = await scene.person('stranger')
    const { page, walk, main } = await openPage('/p/main/tenants', stranger)
    const texts = ['Not found, or no access', 'Ask a maintainer of the project.']
    await expectTexts(main.locator('.state'), ...texts)
    const withoutAccess = await main.locator('.state-text').first().textContent()
    await walk.go('/p/does-not-exist/tenants')
    await expectTexts(main.locator('.state'), ...texts)
    const withoutProject = await main.locator('.state-text').first().textContent()
    const withoutIds = (text: string | null): string => (text ?? '').replaceAll(/[0-9a-f-]{32,36}/g, '')
    expect(withoutIds(withoutAccess)).toBe(withoutIds(withoutProject))
    await expectAccessible(page)
    await main.getByRole('link', { name: 'All projects' }).click()
    await page.getByRole('heading', { name: 'No projects' }).waitFor()
  })
})
