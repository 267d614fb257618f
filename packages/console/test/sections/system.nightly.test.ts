// The pages of the installation: people with their system role and tokens. system.nightly.test.ts tests refusals, the
// rights of roles, and tokens to renew.
import { createToken } from '@manager/harness/credentials.ts'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findButton } from '../kit/find-button.ts'
import { useConsole, waitForPage } from '../kit/scene.ts'
import { readRole } from '../kit/system-role.ts'

const scene = useConsole()

async function changeRole(page: Page, name: string, role: 'administrator' | 'user'): Promise<void> {
  await findButton(page, 'Change system role').click()
  const dialog = page.getByRole('dialog', { name: `Change the system role of ${name}` })
  await dialog.getByText(role, { exact: true }).click()
  await findButton(dialog, 'Change system role').click()
  await dialog.waitFor({ state: 'detached' })
}

test('a person without the right sees no system section, and the addresses have no content', async () => {
  const { page, open } = await scene.visit(await scene.member('olga', 'owner'))
  for (const path of ['users', 'tokens', 'provisioning', 'access-review?scope=system', 'evidence']) {
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
  expect(await readRole(scene, finn.id)).toBe('administrator')
  await changeRole(page, 'finn', 'user')
  await expect.poll(() => panel.getByText('administrator').count()).toBe(0)
  expect(await readRole(scene, finn.id)).toBe('user')

  await panel.getByRole('button', { name: `Remove from Project ${scene.project.slug}` }).click()
  await findButton(page.getByRole('dialog'), 'Delete').click()
  await expect.poll(() => panel.getByRole('link').count()).toBe(0)
  expect(complaints).toEqual([])
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
