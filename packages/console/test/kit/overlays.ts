// Opens every overlay of an address: menus, dialogs, pickers and lists, also those inside of dialogs.
import type { Locator, Page } from 'playwright-core'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import type { Walk } from './walk.ts'

/** Buttons with an attribute that announces an overlay or names an action. Cells of a table are edited in place. */
const buttons = [
  'button[aria-haspopup]',
  'button[aria-expanded]',
  'button[data-action]',
  '.search-button',
].map((selector) => `${selector}:not([data-cell]):not([data-action="inbox.markRead"])`)
const openers = buttons.join(', ')
/** A toast is an alert dialog, too, and the timeline of calls is a list that is part of its page. */
const overlays = '[role=dialog], [role=alertdialog]:not(.toast), [role=menu], [role=listbox]:not(.call-bars)'
/** Enough for every page; a page that grows beyond it fails instead of taking minutes. */
const maxOpeners = 60

export type OverlayTour = {
  page: Page
  walk: Walk
  view: string
  /** Selects the buttons to press; by default, all buttons that can open an overlay. */
  selector?: string
  /** Called while the overlay is open. */
  check: (name: string) => Promise<void>
}

const overlayParts = '.dialog-backdrop, .search-backdrop, .popover, .tooltip'

/** Returns a check that collects the accessibility problems of the open overlays. */
export function createAudit(page: Page, problems: Record<string, unknown[]>) {
  return async (name: string): Promise<void> => {
    if ((await page.locator(overlayParts).count()) === 0) throw new Error(`${name} opens an unknown overlay`)
    const found = (await violationsOf(page, overlayParts)).filter((violation) => !isListOfField(violation))
    if (found.length > 0) problems[name] = found
  }
}

/** The field above a list keeps the focus, and its arrow keys scroll the list. axe knows this only for a `combobox`. */
const isListOfField = (violation: unknown): boolean => {
  const { id, html } = violation as { id: string; html: string[] }
  return id === 'scrollable-region-focusable' && html.every((tag) => /role="(?:menu|listbox)"/.test(tag))
}

/** The overlays that are open. */
export const shownOverlays = (page: Page): Locator => page.locator(overlays).filter({ visible: true })

/** Opens the address and each of its overlays, one after another. Returns the names of the overlays. */
export async function visitOverlays(tour: OverlayTour): Promise<string[]> {
  const { page, walk, view, check, selector = openers } = tour
  const names: string[] = []
  await walk.go(view)
  const address = page.url()
  const shown = page.locator(selector).filter({ visible: true })
  const count = await shown.count()
  if (count > maxOpeners) throw new Error(`${view} has ${count} buttons that open something`)
  for (let index = 0; index < Math.min(count, await shown.count()); index++) {
    const button = shown.nth(index)
    if (!(await button.isEnabled())) continue
    const name = `${view} ${await readName(button)}`
    await button.click()
    await walk.settle()
    if ((await shownOverlays(page).count()) > 0) {
      names.push(name)
      await check(name)
      names.push(...(await visitInnerOverlays(tour, name)))
      await closeOverlays(page, 0, name)
    } else await page.keyboard.press('Escape') // leaves a field that replaced the button
    // The button has opened a tab or a panel, which has its own address.
    if (page.url() !== address) await walk.go(view)
  }
  return names
}

/** Opens the lists in a dialog, including suggestions, which appear while a person types. */
async function visitInnerOverlays({ page, walk, check }: OverlayTour, outer: string): Promise<string[]> {
  const names: string[] = []
  const open = await shownOverlays(page).count()
  const dialogs = page.locator('[role=dialog]').filter({ visible: true })
  // An inner overlay can be a dialog, too.
  const dialog = dialogs.nth((await dialogs.count()) - 1)
  if ((await dialogs.count()) === 0) return names
  const inner = dialog.locator('button[aria-haspopup], button[aria-expanded], input[role=combobox]')
  const count = await inner.filter({ visible: true }).count()
  for (let index = 0; index < count; index++) {
    const control = inner.filter({ visible: true }).nth(index)
    if (!(await control.isEnabled())) continue
    const name = `${outer} > ${await readName(control)}`
    if ((await control.getAttribute('role')) === 'combobox') await control.fill('co')
    else await control.click()
    // A search starts only when the person stops typing.
    await page.waitForTimeout(300)
    await walk.settle()
    if ((await shownOverlays(page).count()) === open) continue
    names.push(name)
    await check(name)
    await closeOverlays(page, open, name)
  }
  return names
}

/** Closes overlays with Escape until only `remaining` are open. */
async function closeOverlays(page: Page, remaining: number, name: string): Promise<void> {
  for (let attempts = 0; (await shownOverlays(page).count()) > remaining; attempts++) {
    if (attempts === 5) throw new Error(`Escape does not close the overlay of ${name}`)
    await page.keyboard.press('Escape')
    await page.waitForTimeout(50)
  }
}

const readName = (control: Locator): Promise<string> =>
  control.evaluate(
    (element) => element.getAttribute('aria-label') ?? element.textContent.replaceAll(/\s+/g, ' ').trim(),
  )
