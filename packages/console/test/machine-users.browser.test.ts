// The machine users section: machine users are created by keyboard, rotated, disabled and deleted, and no trace of a
// token remains.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { createMachineToken } from '@manager/harness/seed.ts'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { seedEndpoint, seedEndpointAccess } from '../../manager/test/kit/endpoints.ts'
import { seedCall } from '../../manager/test/kit/esb-calls.ts'
import { tokenWorks } from '../../manager/test/kit/machines.ts'
import { findText } from './kit/find-text.ts'
import { expectFocus, tabTo } from './kit/focus.ts'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()
const path = '/p/main/machine-users'

let maria: Person
let endpointId: string
beforeAll(async () => {
  maria = await scene.member('Maria Maintainer', 'maintainer')
  endpointId = await seedEndpoint(scene.service.sql, scene.project)
})

type Seeded = { id: string; name: string; token: string }

/** Inserts a machine user whose token is `days` old. */
async function seedNamed(name: string, { environment = 'dev', days = 0 } = {}): Promise<Seeded> {
  const { token, tokenPrefix, tokenHash } = createMachineToken()
  const { rows } = await scene.service.sql.query<{ id: string }>(
    `insert into machine_users
       (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash, created_at)
     select gen_random_uuid(), $1, id, $3, $4, true, $5, $6, now() - make_interval(days => $7::int)
     from environments where project_id = $1 and name = $2 returning id`,
    [scene.project.id, environment, name, `Bearer:${tokenPrefix}`, tokenPrefix, tokenHash, days],
  )
  return { id: rows[0]?.id as string, name, token }
}

const works = async ({ token }: { token: string }): Promise<boolean> =>
  (await tokenWorks([scene.service], token))[0] as boolean

const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true })
const panelOf = (page: Page): Locator => page.getByRole('complementary')
const namesOf = (page: Page): Promise<string[]> =>
  page.getByRole('rowheader').locator('.two-lines-first').allTextContents()

/** Opens the section, or the panel of a machine user. */
async function open(of?: Seeded, person = maria): Promise<Page> {
  const { page, open: go } = await scene.visit(person)
  await go(of === undefined ? path : `${path}?open=${of.id}`)
  await waitForPage(page)
  return page
}

/** Confirms by keyboard that the secret is stored, and closes its dialog. */
async function finishSecret(page: Page): Promise<void> {
  await page.keyboard.press('Tab')
  await expectFocus(page.getByRole('checkbox'))
  await page.keyboard.press('Space')
  await tabTo(button(page, 'Done'))
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

describe('a token', () => {
  test('is created and copied by keyboard, and leaves no trace when its dialog is closed', async () => {
    const page = await open()
    await button(page, 'New machine user').first().focus()
    await page.keyboard.press('Enter')
    await expectFocus(page.getByRole('textbox', { name: /^Name/ }))
    await page.keyboard.type('legacy-import')
    await tabTo(page.getByRole('dialog').getByRole('button', { name: /Environment/ }))
    await page.keyboard.press('Enter')
    const environment = page.getByRole('option', { name: 'qas' })
    await environment.waitFor()
    await page.keyboard.type('qas')
    await expectFocus(environment)
    await page.keyboard.press('Enter')
    await expectFocus(page.getByRole('dialog').getByRole('button', { name: /qas/ }))
    await tabTo(button(page, 'Create'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Token of legacy-import' }).waitFor()
    const token = (await page.locator('.secret-value').textContent()) ?? ''
    expect(token).toMatch(/^[\w-]{43}$/)
    await expectFocus(button(page, 'Copy'))
    await page.keyboard.press('Enter')
    await button(page, 'Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token)
    expect((await findText(page, token)).filter((place) => !place.startsWith('document: '))).toEqual([])
    await finishSecret(page)
    await panelOf(page).getByRole('heading', { name: 'legacy-import' }).waitFor()
    await waitForPage(page)
    // The same search finds the name, which proves that it includes the cache.
    expect((await findText(page, 'legacy-import')).some((place) => place.startsWith('read: '))).toBe(true)
    expect(await findText(page, token)).toEqual([])
    expect(await works({ token })).toBe(true)
  })

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

  test('is rotated: the previous one stops working, and the focus returns to the button', async () => {
    const user = await seedNamed('rotated', { environment: 'run', days: 120 })
    const page = await open(user)
    await page.getByText('The credential is 120 days old.').waitFor()
    await button(page, 'Rotate token').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Rotate the token of rotated?' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click()
    await page.getByText('The previous credential stopped working').waitFor()
    const token = (await page.locator('.secret-value').textContent()) ?? ''
    expect([await works(user), await works({ token })]).toEqual([false, true])
    await expectFocus(button(page, 'Copy'))
    await finishSecret(page)
    await expectFocus(button(page, 'Rotate token'))
    expect(await findText(page, token)).toEqual([])
    await expect.poll(() => page.getByText('The credential is 120 days old.').count()).toBe(0)
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
  test('is disabled after a confirmation and enabled immediately', async () => {
    const user = await seedNamed('switched')
    const page = await open(user)
    await button(page, 'Disable').click()
    await page.getByRole('heading', { name: 'Disable switched?' }).waitFor()
    expect(await works(user)).toBe(true)
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled switched').waitFor()
    expect(await works(user)).toBe(false)
    await expectFocus(button(page, 'Enable'))
    await page.keyboard.press('Enter')
    await page.getByText('Enabled switched').waitFor()
    expect(await works(user)).toBe(true)
  })

  test('may call an endpoint while its switch is on', async () => {
    const user = await seedNamed('caller')
    const page = await open(user)
    await page.getByRole('tab', { name: /Endpoint access/ }).click()
    const access = page.getByRole('switch', { name: /seeded/ })
    await access.waitFor()
    expect(await access.isChecked()).toBe(false)
    await access.focus()
    await page.keyboard.press('Space')
    await page.getByText('caller may call seeded').waitFor()
    expect(await readAccess(user)).toEqual([{ enabled: true }])
    await button(page, 'Undo').click()
    await expect.poll(() => readAccess(user)).toEqual([])
  })

  test('is deleted after its name is typed, because its access goes with it', async () => {
    const user = await seedNamed('doomed')
    await seedEndpointAccess(scene.service.sql, {
      projectId: scene.project.id,
      endpointId,
      machineUserId: user.id,
    })
    const page = await open(user)
    await page.getByText('1 of 1', { exact: true }).waitFor()
    await button(page, 'Delete').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('endpoint access').first().waitFor()
    await dialog.getByRole('textbox').fill('doomed')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted doomed').waitFor()
    expect(await panelOf(page).count()).toBe(0)
    expect(await works(user)).toBe(false)
  })

  test('with logged calls is not deleted; the dialog offers to disable it', async () => {
    const user = await seedNamed('logged')
    await seedCall(scene.service.sql, {
      projectId: scene.project.id,
      endpointId,
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

  test('has no actions for a person who may only read', async () => {
    const user = await seedNamed('read-only')
    const page = await open(user, await scene.member('Rita Reader', 'readonly'))
    await page.getByText('With your role, you can only view this machine user.').waitFor()
    for (const name of ['New machine user', 'Rotate token', 'Disable', 'Delete', 'Rename'])
      expect(await button(page, name).count()).toBe(0)
    await page.getByRole('tab', { name: /Endpoint access/ }).click()
    expect(await page.getByRole('switch', { name: /seeded/ }).isDisabled()).toBe(true)
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

async function readAccess({ id }: Seeded): Promise<{ enabled: boolean }[]> {
  const { rows } = await scene.service.sql.query<{ enabled: boolean }>(
    'select enabled from machine_user2endpoints where machine_user_id = $1',
    [id],
  )
  return rows
}
