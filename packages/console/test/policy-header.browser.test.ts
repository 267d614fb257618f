// Tests that the policy header is in force. pages.browser.test.ts opens every page, and overlays.nightly.test.ts opens
// every overlay.
import { expect, test } from 'vitest'
import { fetchFor } from './kit/requests.ts'
import { type Visit, useConsole } from './kit/scene.ts'

const scene = useConsole()

function expectClean({ complaints, foreignRequests }: Visit): void {
  expect(complaints).toEqual([])
  expect(foreignRequests).toEqual([])
}

test('the policy header is in force and keeps scripts, styles and other hosts out', async () => {
  const visit = await scene.visit(scene.admin)
  const { page, open, complaints } = visit
  await open('/')
  await page.locator('h1').waitFor()
  expectClean(visit)
  const outcome = await page.evaluate(async () => {
    const tryTo = (act: () => unknown): string => {
      try {
        act()
        return 'done'
      } catch (error) {
        return error instanceof Error ? error.name : 'failed'
      }
    }
    const style = document.createElement('style')
    style.textContent = 'body { color: red }'
    document.head.append(style)
    return {
      markup: tryTo(() => document.body.insertAdjacentHTML('beforeend', '<b>bold</b>')),
      policy: tryTo(() =>
        (
          globalThis as unknown as { trustedTypes: { createPolicy: (name: string, rules: object) => void } }
        ).trustedTypes.createPolicy('any', {}),
      ),
      rules: style.sheet?.cssRules.length ?? 0,
      request: await fetch('https://example.com/').then(
        () => 'done',
        (error: Error) => error.name,
      ),
    }
  })
  expect(outcome).toEqual({ markup: 'TypeError', policy: 'TypeError', rules: 0, request: 'TypeError' })
  // The browser reports each violation, so other tests detect violations too.
  for (const rule of ['trusted-types', 'style-src', 'connect-src'])
    expect(complaints.some((line) => line.includes(rule))).toBe(true)
})

test('the page reserves the style element of react-aria, which the policy header forbids', async () => {
  const removed = await scene.visit(scene.admin)
  await removed.page.route('**/console/', async (route) => {
    const response = await fetchFor(route)
    const page = await response.text()
    const without = page.replace(/<meta id="react-aria-pressable-style" ?\/?>/, '')
    expect(without).not.toBe(page)
    await route.fulfill({ response, body: without })
  })
  await removed.open('/')
  await removed.page.locator('h1').waitFor()
  await expect.poll(() => removed.complaints.some((line) => line.includes('style-src'))).toBe(true)
})
