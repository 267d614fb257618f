// Details of the account page: changes by another person, many notifications and hostile ones.
// sections/me.nightly.test.ts tests the rest.
import { expect, test } from 'vitest'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { seedNotifications } from '../../manager/test/kit/inbox.ts'
import { findButton } from './kit/find-button.ts'
import { createReader } from './kit/inbox-reader.ts'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()

test('a token that somebody changed meanwhile is not revoked without looking again', async () => {
  const noa = await scene.person('noa')
  const { page, open } = await scene.visit(noa)
  const { rows } = await scene.service.sql.query<{ id: string }>(
    'select id from personal_access_tokens where user_id = $1',
    [noa.id],
  )
  await open(`/me?tab=tokens&open=${rows[0]?.id}`)
  await findButton(page, 'Revoke').click()
  const question = page.getByRole('dialog')
  // Only the revision changes, because this visit authenticates with the token.
  await scene.service.sql.query(
    'update personal_access_tokens set revision = revision + 1 where user_id = $1',
    [noa.id],
  )
  await findButton(question, 'Revoke').click()
  await question.getByText('This was changed while you were editing.').waitFor()
  await findButton(question, 'Reload').click()
  await question.waitFor({ state: 'detached' })
  await page.getByRole('complementary').getByText('Active').waitFor()
  const stored = await scene.service.sql.query(
    'select 1 from personal_access_tokens where user_id = $1 and revoked',
    [noa.id],
  )
  expect(stored.rowCount).toBe(0)
})

test('older notifications follow page by page', async () => {
  const titles = Array.from({ length: 60 }, (_, index) => `Order ${index + 1}`)
  const cleo = await createReader(scene, 'cleo', titles)
  const { page, open } = await scene.visit(cleo)
  await open('/me?tab=inbox')
  const items = page.getByRole('list', { name: 'Notifications' }).getByRole('listitem')
  await expect.poll(() => items.count()).toBe(50)
  await findButton(page, 'Show older notifications').click()
  await expect.poll(() => items.count()).toBe(60)
  expect(await findButton(page, 'Show older notifications').count()).toBe(0)
})

test('notifications link only to pages of the console and to https addresses', async () => {
  const links = {
    '/console/p/main/tenants?page=2': '/console/p/main/tenants?page=2',
    'https://tracking.example/orders': 'https://tracking.example/orders',
    '/-/logout': null,
    '/console/../-/logout': null,
    'http://tracking.example/orders': null,
    'javascript:alert(1)': null,
  }
  const finn = await createReader(scene, 'finn', [])
  const notifications = Object.keys(links).map((link) => ({ title: link, link }))
  await seedNotifications(scene.service.sql, scene.project, [finn], notifications)
  const { page, open } = await scene.visit(finn)
  await open('/me?tab=inbox')
  const titles = page.getByRole('list', { name: 'Notifications' }).locator('.notification-title')
  await titles.first().waitFor()
  const shown = await titles.evaluateAll((elements) =>
    elements.map((element) => [
      element.textContent,
      element.querySelector('a')?.getAttribute('href') ?? null,
    ]),
  )
  expect(Object.fromEntries(shown)).toEqual(links)
})

test('long titles of notifications fit 360 px and are accessible', async () => {
  const eve = await createReader(scene, 'eve', ['x'.repeat(200), '<script>alert(1)</script>'])
  const { page, open, complaints } = await scene.visit(eve, { width: 360 })
  await open('/me?tab=inbox')
  await waitForPage(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  expect(await violationsOf(page)).toEqual([])
  expect(complaints).toEqual([])
})
