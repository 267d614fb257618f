// The machine users section: machine users are created by keyboard, rotated, disabled and deleted, and no trace of a
// token remains. machine-users.nightly.test.ts tests refusals, filters and narrow pages.
import { describe, expect, test } from 'vitest'
import { seedEndpointAccess } from '../../../manager/test/kit/endpoints.ts'
import { findText } from '../kit/find-text.ts'
import { expectFocus, tabTo } from '../kit/focus.ts'
import { type Seeded, button, finishSecret, panelOf, useMachineUserScene } from '../kit/machine-users-page.ts'
import { waitForPage } from '../kit/scene.ts'

const { scene, endpoint, seedNamed, works, open } = useMachineUserScene()

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
      endpointId: endpoint.id,
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

async function readAccess({ id }: Seeded): Promise<{ enabled: boolean }[]> {
  const { rows } = await scene.service.sql.query<{ enabled: boolean }>(
    'select enabled from machine_user2endpoints where machine_user_id = $1',
    [id],
  )
  return rows
}
