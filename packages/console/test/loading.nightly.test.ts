// The page offers to reload the console if its first script is missing. The offer appears after a delay, so the test
// is slow.
import { expect, test } from 'vitest'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()

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
