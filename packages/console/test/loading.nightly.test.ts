// Details of the parts of the console that are loaded on demand, and of missing files. loading.browser.test.ts tests the
// rest.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()

/** Returns the role and the name of the element that has the focus. */
const focusOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    return `${element?.getAttribute('role') ?? element?.tagName} ${element?.getAttribute('aria-label') ?? element?.textContent}`
  })

// The page offers to reload the console after a delay, so this test is slow.
test('without its first script, the page offers to load it again', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await page.route('**/assets/index-*.js', (route) => route.fulfill({ status: 404 }))
  await open('/')
  const link = page.getByRole('link', { name: 'reload the page' })
  expect(await link.isVisible()).toBe(false)
  await link.waitFor({ timeout: 30_000 })
  await page.unrouteAll()
  await link.click()
  await waitForPage(page)
  expect(await link.count()).toBe(0)
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

test('without the German texts, the page is English', async () => {
  const { page, open } = await scene.visit(scene.admin, { locale: 'de-DE' })
  await page.route('**/assets/de-*.js', (route) => route.fulfill({ status: 404 }))
  await open('/p/main/tenants')
  await page.getByRole('heading', { name: 'Tenants' }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
})
