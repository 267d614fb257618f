// Parts of the console that are loaded on demand: menus behave as if they were loaded from the start, and a missing
// file never leaves the person with an empty page. loading.nightly.test.ts tests the details.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()

const requestsOf = (page: Page): string[] => {
  const files: string[] = []
  page.on('request', (request) => files.push(new URL(request.url()).pathname))
  return files
}

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
