// Helpers for the focus of a page, and test steps whose errors describe what the page showed.
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

const maxTabs = 80
const maxShown = 6_000

export const hasFocus = async (target: Locator): Promise<boolean> =>
  (await target.and(target.page().locator(':focus')).count()) > 0

/** Returns the role and the name of the element that has the focus. */
async function describeFocus(page: Page): Promise<string> {
  const focus = page.locator(':focus')
  if ((await focus.count()) === 0) return 'the body'
  const text = await focus.ariaSnapshot({ timeout: 5_000 }).catch(() => '- an element that was removed')
  return text.split('\n')[0]?.replace(/^- |:$/g, '') ?? ''
}

/** Waits until the target has the focus. */
export async function expectFocus(target: Locator): Promise<void> {
  const readFocus = async (): Promise<string> =>
    (await hasFocus(target)) ? String(target) : describeFocus(target.page())
  await expect
    .poll(readFocus, { message: 'the element with the focus', timeout: 10_000 })
    .toBe(String(target))
}

/** Presses the Tab key until the control has the focus. The error names the controls on the way. */
export async function tabTo(target: Locator): Promise<void> {
  const page = target.page()
  const seen: string[] = []
  await target.waitFor()
  for (let count = 0; count <= maxTabs; count++) {
    if (await hasFocus(target)) return
    seen.push(await describeFocus(page))
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not reach ${String(target)}, only:\n${seen.join('\n')}`)
}

/** Runs a step of a test. */
export async function step<T>(page: Page, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const shown = await page
      .locator('body')
      .ariaSnapshot({ timeout: 5_000 })
      .catch(() => 'nothing that could be read')
    throw new Error(
      `${name}: ${error instanceof Error ? error.message : String(error)}

The address was ${page.url()}, the focus on ${await describeFocus(page)}, and the page showed:
${shown.slice(0, maxShown)}`,
      { cause: error },
    )
  }
}
