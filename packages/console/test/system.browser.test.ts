// The pages of the installation: people with their system role and tokens, the rights of roles, and tokens to renew.
import { createToken } from '@manager/harness/credentials.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()

const findButton = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true })

const readRole = async (id: string): Promise<string | undefined> =>
  (await scene.service.sql.query<{ role: string }>('select role from users where id = $1', [id])).rows[0]
    ?.role

async function changeRole(page: Page, name: string, role: 'administrator' | 'user'): Promise<void> {
  await findButton(page, 'Change system role').click()
  const dialog = page.getByRole('dialog', { name: `Change the system role of ${name}` })
  await dialog.getByText(role, { exact: true }).click()
  await findButton(dialog, 'Change system role').click()
  await dialog.waitFor({ state: 'detached' })
}

test('a person without the right sees no system section, and the addresses have no content', async () => {
  const { page, open } = await scene.visit(await scene.member('olga', 'owner'))
  for (const path of ['users', 'tokens']) {
    await open(`/system/${path}`)
    await page.getByRole('heading', { name: 'Only administrators can open this page' }).waitFor()
    expect(await page.getByRole('navigation').getByText('System').count()).toBe(0)
    expect(await page.getByRole('grid').count()).toBe(0)
  }
})

test('an administrator finds a person, grants the system role and takes it away', async () => {
  const finn = await scene.member('finn', 'tester')
  const { page, open, complaints } = await scene.visit(scene.admin)
  await open('/system/users')
  await waitForPage(page)
  await page.getByRole('searchbox').fill('finn@')
  await page.waitForURL(/q=finn/)
  const row = page.getByRole('row', { name: /finn/ })
  await row.click()
  const panel = page.getByRole('complementary', { name: 'finn' })
  await panel.getByRole('link', { name: `Project ${scene.project.slug}` }).waitFor()

  await changeRole(page, 'finn', 'administrator')
  await panel.getByText('administrator', { exact: true }).waitFor()
  expect(await readRole(finn.id)).toBe('administrator')
  await changeRole(page, 'finn', 'user')
  await expect.poll(() => panel.getByText('administrator').count()).toBe(0)
  expect(await readRole(finn.id)).toBe('user')

  await panel.getByRole('button', { name: `Remove from Project ${scene.project.slug}` }).click()
  await findButton(page.getByRole('dialog'), 'Delete').click()
  await expect.poll(() => panel.getByRole('link').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('the last administrator cannot give up the role', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open(`/system/users?open=${scene.admin.id}`)
  await findButton(page, 'Change system role').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The installation has no other administrator. Appoint one first.').waitFor()
  expect(await dialog.getByRole('radio', { name: /^user/ }).isDisabled()).toBe(true)
})

test('a stale panel does not overwrite the system role', async () => {
  const gus = await scene.person('gus')
  const { page, open } = await scene.visit(scene.admin)
  await open(`/system/users?open=${gus.id}`)
  await findButton(page, 'Change system role').click()
  await scene.service.sql.query('update users set revision = revision + 1 where id = $1', [gus.id])
  const dialog = page.getByRole('dialog')
  await dialog.getByText('administrator', { exact: true }).click()
  await findButton(dialog, 'Change system role').click()
  await findButton(dialog, 'Reload').waitFor()
  expect(await readRole(gus.id)).toBe('user')
})

test('an administrator finds the tokens of a person and revokes one', async () => {
  const hana = await scene.person('hana')
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString()
  await createToken(scene.service, hana, { name: 'backup', expiresAt: soon })
  await createToken(scene.service, hana, { name: 'report' })
  const { page, open, complaints } = await scene.visit(scene.admin)
  await open('/system/tokens')
  await waitForPage(page)
  await page.getByRole('searchbox').fill('hana')
  await expect.poll(() => page.getByRole('row').count()).toBe(3)
  await page.getByRole('button', { name: /Expires: any time/ }).click()
  await page.getByRole('option', { name: 'within 14 days' }).click()
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
  await page.getByRole('row', { name: /backup/ }).click()
  const panel = page.getByRole('complementary', { name: 'backup' })
  await findButton(panel, 'Revoke').click()
  await findButton(page.getByRole('dialog'), 'Revoke').click()
  // The list of expiring tokens contains only usable tokens.
  await page.getByRole('row', { name: /backup/ }).waitFor({ state: 'detached' })

  await open(`/system/users?open=${hana.id}&tab=tokens`)
  const tokens = page.getByRole('complementary', { name: 'hana' })
  await tokens.getByText('Revoked').waitFor()
  await findButton(tokens, 'Revoke').click()
  await findButton(page.getByRole('dialog'), 'Revoke').click()
  await expect.poll(() => tokens.getByText('Revoked').count()).toBe(2)
  expect(complaints).toEqual([])
})

test('machine users with an old token lead to their page', async () => {
  const { id } = await seedMachineUser(scene.service.sql, scene.project)
  await scene.service.sql.query(
    `update machine_users set created_at = now() - interval '100 days', last_rotated_at = null where id = $1`,
    [id],
  )
  const { page, open } = await scene.visit(scene.admin)
  await open(`/system/tokens?view=machine&project=${scene.project.slug}`)
  const row = page.getByRole('row', { name: /seeded/ })
  await row.waitFor()
  expect(await row.innerText()).toContain('100 days')
  await row.click()
  await page.waitForURL(new RegExp(`/p/${scene.project.slug}/machine-users\\?open=${id}`))
})

test('the table of roles shows the policy', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open('/system/users?view=roles&q=SETTINGS_WRITE')
  const row = page.getByRole('row', { name: /SETTINGS_WRITE/ })
  await row.waitFor()
  const cells = await row.getByRole('gridcell').allInnerTexts()
  expect(cells.map((text) => text.replace(/^–/, '').trim())).toEqual(['yes', 'yes', 'yes', 'yes', 'no', 'no'])
  expect(await row.innerText()).toContain('tenant permission apps.configure')
})
