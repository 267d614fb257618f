// The policy header is in force, and overlays follow it, also at 360 px. overlays.nightly.test.ts opens every overlay of
// every address.
import { beforeAll, expect, test } from 'vitest'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { createAudit, openersOfPage, visitOverlays } from './kit/overlays.ts'
import { fetchFor } from './kit/requests.ts'
import { type Visit, useConsole } from './kit/scene.ts'
import { seedObjects } from './kit/seed-objects.ts'
import { type Objects, listViews } from './kit/views.ts'
import { createWalk } from './kit/walk.ts'

const scene = useConsole()
let objects: Objects
beforeAll(async () => {
  objects = await seedObjects(scene)
})

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
  // Each of them is reported, so that the other tests would notice it.
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

/** Addresses whose overlays are checked in both themes; the others are checked in both by the nightly tests. */
const isInBothThemes = (view: string): boolean => /^\/$|tenants\?.*tab=members|members\?open/.test(view)
const themes = ['dark', 'light'] as const

test('at 360 px, the menus of the top bar, the side bar, panels and their dialogs', async () => {
  const visit = await scene.visit(scene.admin, { width: 360 })
  const { page } = visit
  const problems: Record<string, unknown[]> = {}
  const walk = createWalk(visit)
  const tour = { page, walk, check: createAudit(page, problems, themes), seen: new Set<string>() }
  const [panel = '', ...views] = listViews(objects).filter((view) => view !== '/' && isInBothThemes(view))
  const names = await visitOverlays({ ...tour, view: panel })
  for (const view of views) names.push(...(await visitOverlays({ ...tour, view, selector: openersOfPage })))
  await walk.go('/p/main/tenants')
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  await page.locator('.shell[data-menu]').waitFor()
  expect(await violationsOf(page)).toEqual([])
  expect(problems).toEqual({})
  expect(names.length).toBeGreaterThan(8)
  expectClean(visit)
})
