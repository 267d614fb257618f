// Details of the machine users section: refusals, filters and narrow pages. sections/machine-users.nightly.test.ts
// tests the rest.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { seedCall } from '../../manager/test/kit/esb-calls.ts'
import { findText } from './kit/find-text.ts'
import { expectFocus } from './kit/focus.ts'
import { button, finishSecret, panelOf, path, useMachineUserScene } from './kit/machine-users-page.ts'
import { waitForPage } from './kit/scene.ts'

const { scene, maria, endpoint, seedNamed, works, open } = useMachineUserScene()

const namesOf = (page: Page): Promise<string[]> =>
  page.getByRole('rowheader').locator('.two-lines-first').allTextContents()

describe('a token', () => {
  test('stays on the screen until the person has stored it', async () => {
    const user = await seedNamed('kept')
    const page = await open(user)
    await button(page, 'Rotate token').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click()
    const title = page.getByRole('heading', { name: 'Token of kept' })
    await title.waitFor()
    const address = page.url()
    await page.keyboard.press('Escape')
    await page.mouse.click(4, 4)
    await button(page, 'Done').click({ force: true })
    await page.evaluate(() => history.back())
    await page.waitForTimeout(300)
    expect(await title.count()).toBe(1)
    expect(page.url()).toBe(address)
    expect(await panelOf(page).count()).toBe(1)
  })

  test('of a Basic machine user is a password that the browser generates', async () => {
    const page = await open()
    await button(page, 'New machine user').click()
    await page.getByRole('textbox', { name: /^Name/ }).fill('old-caller')
    await page
      .getByRole('button', { name: /Environment/ })
      .last()
      .click()
    await page.getByRole('option', { name: 'dev' }).click()
    await page.getByRole('button', { name: /Sign-in/ }).click()
    await page.getByRole('option', { name: 'User name and password' }).click()
    await page.getByRole('textbox', { name: /User name/ }).fill('a:b')
    await button(page, 'Create').click()
    await page.getByText('must not contain a colon').waitFor()
    await page.getByRole('textbox', { name: /User name/ }).fill('old-caller')
    await button(page, 'Create').click()
    await page.getByRole('heading', { name: 'Password of old-caller' }).waitFor()
    const password = (await page.locator('.secret-value').textContent()) ?? ''
    expect(password).toMatch(/^[\w-]{43}$/)
    await finishSecret(page)
    expect(await findText(page, password)).toEqual([])
  })

  test('that is pasted into the search stays out of the address', async () => {
    const user = await seedNamed('searched')
    await seedNamed('other')
    const page = await open()
    await page.getByRole('searchbox', { name: 'Name, user name or id' }).fill(user.token)
    await expect.poll(() => namesOf(page)).toEqual(['searched'])
    expect(await findText(page, user.token)).toEqual([])
    expect(new URL(page.url()).searchParams.get('q')).toBe(user.token.slice(0, 8))
  })
})

describe('a machine user', () => {
  test('with logged calls is not deleted; the dialog offers to disable it', async () => {
    const user = await seedNamed('logged')
    await seedCall(scene.service.sql, {
      projectId: scene.project.id,
      endpointId: endpoint.id,
      machineUserId: user.id,
    })
    const page = await open(user)
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await button(page, 'Disable instead').click()
    await page.getByRole('heading', { name: 'Disable logged?' }).waitFor()
    expect(await works(user)).toBe(true)
  })

  test('that another person changed is not rotated', async () => {
    const user = await seedNamed('contended')
    const page = await open(user)
    await button(page, 'Rotate token').click()
    await scene.service.query(
      scene.admin,
      'mutation($id: ID!) { updateMachineUser(id: $id, input: { name: "taken" }) { id } }',
      { id: user.id },
    )
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click()
    await page.getByRole('alert').getByText('changed this while you were editing').waitFor()
    expect(await works(user)).toBe(true)
    await button(page, 'Reload').click()
    await panelOf(page).getByRole('heading', { name: 'taken' }).waitFor()
  })
})

test('the list keeps its filters in the address, and finds tokens to renew', async () => {
  await seedNamed('aged', { environment: 'run', days: 200 })
  const { page, open: go } = await scene.visit(maria)
  await go(`${path}?older=180`)
  await waitForPage(page)
  await expect.poll(() => namesOf(page)).toEqual(['aged'])
  await page.getByText('200 days').waitFor()
  await page.getByRole('button', { name: /Environment: any/ }).click()
  await page.getByRole('option', { name: 'dev' }).click()
  await page.getByRole('heading', { name: 'No token to renew' }).waitFor()
  expect(new URL(page.url()).searchParams.get('env')).toBe('dev')
  await button(page, 'Clear filters').click()
  await expect.poll(() => namesOf(page)).toContain('aged')
  await page.getByRole('columnheader', { name: 'Created' }).click()
  await expect.poll(async () => (await namesOf(page))[0]).toBe('aged')
  await page.reload()
  await waitForPage(page)
  await expect.poll(async () => (await namesOf(page))[0]).toBe('aged')
})

test('panel and dialogs have no accessibility problem at 360 px in dark', async () => {
  const view = { width: 360, theme: 'dark' } as const
  const user = await seedNamed(`wide ${'<script>long</script> '.repeat(3)}`, { days: 100 })
  const { page, open: go, complaints } = await scene.visit(maria, view)
  await go(`${path}?open=${user.id}`)
  await panelOf(page).getByRole('heading', { name: user.name }).waitFor()
  await waitForPage(page)
  expect(await violationsOf(page)).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(view.width)
  for (const name of ['Rotate token', 'Disable', 'Delete']) {
    await button(page, name).click()
    await page.getByRole('dialog').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expectFocus(button(page, name))
  }
  await page.getByRole('tab', { name: /Endpoint access/ }).click()
  await waitForPage(page)
  expect(await violationsOf(page)).toEqual([])
  expect(complaints).toEqual([])
})
