// The account page: tokens that are shown once, notifications, and the settings of the browser. me.nightly.test.ts tests
// changes by another person, many notifications and hostile ones.
import type { Person } from '@manager/harness/callers.ts'
import { validate } from '@manager/harness/credentials.ts'
import { seedMember } from '@manager/harness/seed.ts'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { recipientRows } from '../../../manager/test/kit/inbox.ts'
import { findButton } from '../kit/find-button.ts'
import { findText } from '../kit/find-text.ts'
import { createReader } from '../kit/inbox-reader.ts'
import { useConsole, waitForPage } from '../kit/scene.ts'

const scene = useConsole()

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

const countUnread = async (reader: Person): Promise<number> =>
  (await recipientRows(scene.service.sql, scene.project, reader)).filter(({ readAt }) => readAt === null)
    .length

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

test('the bell leads to the inbox, which marks notifications one by one and all together', async () => {
  const titles = ['First order', 'Second order', 'Third order']
  const ben = await createReader(scene, 'ben', titles, 'https://tracking.example/orders')
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
