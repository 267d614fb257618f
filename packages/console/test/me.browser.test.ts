// The account page: tokens that are shown once, notifications, and the settings of the browser.
import type { Person } from '@manager/harness/callers.ts'
import { validate } from '@manager/harness/credentials.ts'
import { seedMember } from '@manager/harness/seed.ts'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { recipientRows, seedNotifications } from '../../manager/test/kit/inbox.ts'
import { findText } from './kit/find-text.ts'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()

const findButton = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true })

/** Presses a control with the keyboard only. */
async function press(control: Locator, key = 'Enter'): Promise<void> {
  await control.focus()
  await control.page().keyboard.press(key)
}

/** Returns the status that a proxy receives for a token. */
const validateToken = async (token: string): Promise<number> =>
  (await validate(scene.service.url, `Bearer ${token}`, scene.project.applicationId)).status

async function createByKeyboard(page: Page, name: string): Promise<string> {
  await press(findButton(page, 'New token'))
  const form = page.getByRole('dialog', { name: 'New token' })
  await form.waitFor()
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: `Token ${name}` })
  const secret = (await dialog.locator('.secret-value').textContent()) ?? ''
  await page.keyboard.press('Escape')
  await press(findButton(dialog, 'Copy'))
  await findButton(dialog, 'Copied').waitFor()
  await findButton(dialog, 'Done').press('Enter')
  expect(await dialog.isVisible()).toBe(true)
  await press(dialog.getByRole('checkbox'), 'Space')
  await press(findButton(dialog, 'Done'))
  await dialog.waitFor({ state: 'detached' })
  return secret
}

test('a token is created and revoked by keyboard, and shown only once', async () => {
  const ada = await scene.member('ada', 'developer')
  const { page, open, complaints } = await scene.visit(ada)
  await open('/me?tab=tokens')
  await waitForPage(page)
  const secret = await createByKeyboard(page, 'deploy')
  expect(secret).toMatch(/^pat_/)
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret)
  await page.evaluate(() => navigator.clipboard.writeText(''))
  expect(await findText(page, secret)).toEqual([])
  expect(await validateToken(secret)).toBe(200)

  const panel = page.getByRole('complementary', { name: 'deploy' })
  await press(findButton(panel, 'Revoke'))
  const question = page.getByRole('dialog', { name: 'Revoke token deploy?' })
  await press(findButton(question, 'Revoke'))
  await question.waitFor({ state: 'detached' })
  await panel.getByText('Revoked').waitFor()
  expect(await findButton(panel, 'Revoke').count()).toBe(0)
  expect(await validateToken(secret)).toBe(401)
  expect(await page.getByRole('row', { name: /deploy/ }).innerText()).toContain('Revoked')

  await press(findButton(panel, 'Delete'))
  await press(findButton(page.getByRole('dialog', { name: 'Delete token deploy?' }), 'Delete'))
  await panel.waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /deploy/ }).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

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

/** Creates a member of the tenant with notifications from the oldest to the newest. */
async function createReader(name: string, titles: readonly string[], link?: string): Promise<Person> {
  const reader = await scene.person(name)
  await seedMember(scene.service.sql, reader, 'member', {
    projectId: scene.project.id,
    tenantId: scene.project.tenantId,
  })
  await seedNotifications(
    scene.service.sql,
    scene.project,
    [reader],
    titles.map((title, index) => ({
      title,
      at: new Date(Date.now() - (titles.length - index) * 60_000),
      ...(link === undefined ? {} : { link }),
    })),
  )
  return reader
}

const countUnread = async (reader: Person): Promise<number> =>
  (await recipientRows(scene.service.sql, scene.project, reader)).filter(({ readAt }) => readAt === null)
    .length

test('the bell leads to the inbox, which marks notifications one by one and all together', async () => {
  const titles = ['First order', 'Second order', 'Third order']
  const ben = await createReader('ben', titles, 'https://tracking.example/orders')
  const { page, open } = await scene.visit(ben)
  await open('/')
  await page.getByRole('button', { name: /Notifications/ }).click()
  await page.getByRole('link', { name: 'All notifications' }).click()
  await page.waitForURL(/\/me\?.*tab=inbox/)
  const list = page.getByRole('list', { name: 'Notifications' })
  await list.waitFor()
  expect(await list.locator('.notification-title').allTextContents()).toEqual([
    'Third order',
    'Second order',
    'First order',
  ])
  // A backend writes the title, so the host of the link is shown beside it.
  const link = list.getByRole('link', { name: 'First order' })
  expect(await link.getAttribute('href')).toBe('https://tracking.example/orders')
  expect(await list.getByText('link to tracking.example').count()).toBe(3)

  const marks = list.getByRole('button', { name: 'Mark as read' })
  await press(marks.first())
  await expect.poll(() => marks.count()).toBe(2)
  expect(await countUnread(ben)).toBe(2)
  // The pressed button is gone, so the next button has the focus.
  expect(await marks.first().evaluate((button) => button === document.activeElement)).toBe(true)

  await findButton(page, 'Unread').click()
  await expect.poll(() => list.getByRole('listitem').count()).toBe(2)
  expect(page.url()).toContain('show=unread')
  await findButton(page, 'Mark all as read').click()
  await page.getByRole('heading', { name: 'Everything is read' }).waitFor()
  expect(await countUnread(ben)).toBe(0)
})

test('older notifications follow page by page', async () => {
  const titles = Array.from({ length: 60 }, (_, index) => `Order ${index + 1}`)
  const cleo = await createReader('cleo', titles)
  const { page, open } = await scene.visit(cleo)
  await open('/me?tab=inbox')
  const items = page.getByRole('list', { name: 'Notifications' }).getByRole('listitem')
  await expect.poll(() => items.count()).toBe(50)
  await findButton(page, 'Show older notifications').click()
  await expect.poll(() => items.count()).toBe(60)
  expect(await findButton(page, 'Show older notifications').count()).toBe(0)
})

test('the account lists every role with a link, and the settings stay in the browser', async () => {
  const dana = await scene.member('dana', 'tester')
  const of = { projectId: scene.project.id }
  await seedMember(scene.service.sql, dana, 'admin', { ...of, tenantId: scene.project.tenantId })
  await seedMember(scene.service.sql, dana, 'normal', { ...of, applicationId: scene.project.applicationId })
  const { page, open, complaints } = await scene.visit(dana, { width: 360 })
  await open('/me')
  await waitForPage(page)
  const { slug, tenantId, applicationId, applicationSlug, tenantSlug } = scene.project
  const links = page.getByRole('main').getByRole('link')
  const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  expect(addresses).toEqual([
    `/console/p/${slug}/overview`,
    `/console/p/${slug}/tenants?open=${tenantId}`,
    `/console/p/${slug}/applications?open=${applicationId}`,
  ])
  for (const text of ['tester', 'admin', 'normal', `Project ${slug} · ${tenantSlug}`, applicationSlug])
    await page.getByText(text).first().waitFor()

  await page.getByRole('tab', { name: 'Preferences' }).click()
  await findButton(page, 'Dark').click()
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark')
  await findButton(page, 'Deutsch').click()
  await page.getByRole('tab', { name: 'Oberfläche' }).waitFor()
  await page.reload()
  await page.getByRole('tab', { name: 'Oberfläche', selected: true }).waitFor()
  expect(await findButton(page, 'Dunkel').getAttribute('aria-pressed')).toBe('true')
  expect(complaints).toEqual([])
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
  const finn = await createReader('finn', [])
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
  const eve = await createReader('eve', ['x'.repeat(200), '<script>alert(1)</script>'])
  const { page, open, complaints } = await scene.visit(eve, { width: 360 })
  await open('/me?tab=inbox')
  await waitForPage(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  expect(await violationsOf(page)).toEqual([])
  expect(complaints).toEqual([])
})
