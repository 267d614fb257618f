// Opens every address with every overlay in both themes and widths, and presses every button while changes are
// rejected.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { createFakeOrchestrator } from '../../manager/test/kit/deployments.ts'
import { type OverlayTour, createAudit, shownOverlays, visitOverlays } from './kit/overlays.ts'
import { type View, useConsole } from './kit/scene.ts'
import { seedObjects } from './kit/seed-objects.ts'
import { saveShot } from './kit/shots.ts'
import { type Objects, listViews } from './kit/views.ts'
import { createWalk } from './kit/walk.ts'

// Without an orchestrator, each press of Wake would be a failed request.
const scene = useConsole({ world: { orchestrator: createFakeOrchestrator() } })
let objects: Objects
beforeAll(async () => {
  objects = await seedObjects(scene)
})

/** A look has about a thousand overlays. */
const timeoutMs = 1_800_000
const looks: readonly View[] = [
  { width: 1280, theme: 'light' },
  { width: 1280, theme: 'dark' },
  { width: 360, theme: 'light' },
  { width: 360, theme: 'dark' },
]

/** Rejects every change, so that a button cannot alter what later addresses show. */
const rejectChanges = (page: Page): Promise<unknown> =>
  page.route('**/query', async (route) => {
    const { query } = route.request().postDataJSON() as { query: string }
    if (!query.startsWith('mutation')) return route.fallback()
    const errors = [{ message: 'changes are rejected', extensions: { code: 'forbidden' } }]
    return route.fulfill({ status: 403, json: { errors, data: null } })
  })

/** Overlays that need unsaved changes. */
async function visitUnsavedChanges({ page, walk, check }: Omit<OverlayTour, 'view'>): Promise<void> {
  await walk.go(`/p/main/settings?tenant=${objects.tenantId}&application=${objects.applicationId}`)
  await page.getByRole('button', { name: 'mail.from in layer Project', exact: true }).click()
  await page.getByRole('textbox', { name: 'mail.from in layer Project' }).fill('desk@example.com')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Review and save' }).click()
  await check('settings: review')
  await page.keyboard.press('Escape')
  await page.locator('.side-bar-item', { hasText: 'Members' }).click()
  await shownOverlays(page).waitFor()
  await check('settings: leave')
  await page.getByRole('button', { name: 'Discard' }).last().click()
  await walk.settle()
  await walk.go('/p/main/access')
  await page.locator('#access-0-0').click()
  await page.locator('.side-bar-item', { hasText: 'Members' }).click()
  await shownOverlays(page).waitFor()
  await check('access: leave')
  await page.getByRole('button', { name: 'Discard' }).last().click()
  await walk.settle()
}

/** Overlays that a click or hover opens: a confirmation, and the reason why a button is disabled. */
async function visitHints({ page, walk, check }: Omit<OverlayTour, 'view'>): Promise<void> {
  await walk.go(`/p/main/tenants?open=${objects.tenantId}`)
  await page.getByRole('button', { name: 'Copy the link' }).click()
  await page.locator('.toast').waitFor()
  expect(await violationsOf(page, '.toast-region')).toEqual([])
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.locator('.dialog-foot .button[data-variant=danger]').hover()
  await page.getByRole('tooltip').waitFor()
  await check('tenant: tooltip')
  await page.keyboard.press('Escape')
}

describe.each(looks)('at $width px in $theme', (look) => {
  test(
    'every address with every overlay',
    async () => {
      const visit = await scene.visit(scene.admin, look)
      const problems: Record<string, unknown[]> = {}
      const tour = { page: visit.page, walk: createWalk(visit), check: createAudit(visit.page, problems) }
      const names: string[] = []
      for (const view of listViews(objects)) {
        names.push(...(await visitOverlays({ ...tour, view })))
        // The focus returns to a button, whose tooltip is outside of the landmarks. `visitHints` checks a tooltip.
        await visit.page.evaluate(
          () => document.activeElement instanceof HTMLElement && document.activeElement.blur(),
        )
        await visit.page.locator('.tooltip').waitFor({ state: 'detached' })
        await saveShot(visit.page, `${look.width}-${look.theme}`, view)
        const found = await violationsOf(visit.page)
        if (found.length > 0) problems[view] = found
      }
      if (look.width === 1280) {
        await visitUnsavedChanges(tour)
        await visitHints(tour)
      }
      expect(problems).toEqual({})
      expect(names.length).toBeGreaterThan(100)
      expect([visit.complaints, visit.foreignRequests]).toEqual([[], []])
    },
    timeoutMs,
  )
})

test(
  'every button of every address can be pressed without a violation of the policy header',
  async () => {
    const visit = await scene.visit(scene.admin)
    await rejectChanges(visit.page)
    const walk = createWalk(visit)
    for (const view of listViews(objects))
      await visitOverlays({
        page: visit.page,
        walk,
        view,
        selector: 'main button:not([data-cell])',
        check: () => Promise.resolve(),
      })
    const complaints = visit.complaints.filter((line) => !line.includes('Failed to load resource'))
    expect([complaints, visit.foreignRequests]).toEqual([[], []])
  },
  timeoutMs,
)
