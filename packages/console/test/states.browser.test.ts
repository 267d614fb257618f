// Every failure has a state that says what happened and what to do, and that keeps what the person has typed.
// states.nightly.test.ts tests the variants of these failures.
import { createToken } from '@manager/harness/credentials.ts'
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { expectAccessible, expectTexts, typeTenant, useFailureScene } from './kit/failures.ts'
import { dropResponse, onOperation, rejectFor } from './kit/requests.ts'

const { scene, openPage, listTenants } = useFailureScene()

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
