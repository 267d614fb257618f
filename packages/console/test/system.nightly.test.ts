// Details of the pages of the installation: refusals, the rights of roles, and tokens to renew.
// sections/system.nightly.test.ts tests the rest.
import { seedMachineUser } from '@manager/harness/seed.ts'
import { expect, test } from 'vitest'
import { findButton } from './kit/find-button.ts'
import { useConsole } from './kit/scene.ts'
import { readRole } from './kit/system-role.ts'

const scene = useConsole()

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
  expect(await readRole(scene, gus.id)).toBe('user')
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
