// Parts of the console that are loaded on demand: menus behave as if they were loaded from the start, and a missing
// file never leaves the person with an empty page.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()

const requestsOf = (page: Page): string[] => {
  const files: string[] = []
  page.on('request', (request) => files.push(new URL(request.url()).pathname))
  return files
}

/** Returns the role and the name of the element that has the focus. */
const focusOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    return `${element?.getAttribute('role') ?? element?.tagName} ${element?.getAttribute('aria-label') ?? element?.textContent}`
  })

test('the code of a menu is requested when the pointer reaches its button', async () => {
  const { page, open } = await scene.visit(scene.admin)
  const requested = requestsOf(page)
  const isMenuLoaded = (): boolean => requested.some((file) => file.includes('/account-popups-'))
  await open('/p/main/tenants')
  await waitForPage(page)
  expect(isMenuLoaded()).toBe(false)
  await page.getByRole('button', { name: 'Theme' }).hover()
  await expect.poll(isMenuLoaded).toBe(true)
})

test('a menu opens by key at the chosen item, and returns the focus', async () => {
  const { page, open, complaints } = await scene.visit(scene.admin)
  await open('/p/main/tenants')
  await waitForPage(page)
  const button = page.getByRole('button', { name: 'Theme' })
  await button.focus()
  await page.keyboard.press('ArrowUp')
  await page.getByRole('menu', { name: 'Theme' }).waitFor()
  expect(await button.getAttribute('aria-expanded')).toBe('true')
  // The chosen theme has the focus, so that Enter changes nothing.
  expect(await focusOf(page)).toBe('menuitemradio System')
  await page.keyboard.press('Escape')
  await expect.poll(() => focusOf(page)).toBe('BUTTON Theme')
  expect(await page.getByRole('menu').count()).toBe(0)
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  expect(complaints).toEqual([])
})

test('the theme, the language and the environment are chosen with the pointer', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open('/p/main/tenants')
  await waitForPage(page)
  await page.getByRole('button', { name: 'Theme' }).click()
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  expect(await page.getByRole('menu').count()).toBe(0)
  await page.getByRole('button', { name: /All environments/ }).click()
  await page.getByRole('menuitemradio', { name: /^run/ }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('env')).toBe('run')
  await page.getByRole('button', { name: /account/i }).click()
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click()
  await page.getByRole('heading', { name: 'Mandanten' }).waitFor()
})

test('a menu whose code cannot be loaded leaves the page as it is, and offers to reload it', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await page.route('**/assets/account-popups-*.js', (route) => route.fulfill({ status: 404 }))
  await open('/p/main/tenants')
  await waitForPage(page)
  const button = page.getByRole('button', { name: 'Theme' })
  await button.click()
  await page.getByText('A new version of the console is installed.').waitFor()
  expect(await page.getByRole('heading', { name: 'Tenants' }).count()).toBe(1)
  await page.getByRole('button', { name: 'Reload' }).waitFor()
})

test('without the German texts, the page is English', async () => {
  const { page, open } = await scene.visit(scene.admin, { locale: 'de-DE' })
  await page.route('**/assets/de-*.js', (route) => route.fulfill({ status: 404 }))
  await open('/p/main/tenants')
  await page.getByRole('heading', { name: 'Tenants' }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
})
