// The page with a notification bell from the tutorial docs/start/notify-a-person.md, and functions to serve and open
// it.
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { blocksOf, readPage } from './doc-page-runner.ts'

/** The pages with the browser code and the nginx configuration. */
const pages = ['start/notify-a-person.md', 'guides/frontends/show-notifications.md']
const readPages = (): string => pages.map((name) => readPage(name)).join('\n')

/** Returns the first code block in a language from these pages, with `<name>` placeholders filled in. */
export function codeOfPage(language: string, values: Record<string, string>, page = readPages()) {
  const found = blocksOf(page).find((block) => block.language === language)
  if (found === undefined) throw new Error(`${pages.join(' and ')} have no ${language} block`)
  const text = Object.entries(values).reduce(
    (filling, [name, value]) => filling.replaceAll(`<${name}>`, value),
    found.text,
  )
  return { line: found.line, text }
}

/** Waits until a tab shows the expected content, and returns its whole content. */
export function waitForTab(tab: Page, expected: Partial<Shown>): Promise<Shown> {
  const readTab = async (): Promise<Shown> => {
    const shown = await shownBy(tab)
    expect(shown).toMatchObject(expected)
    return shown
  }
  return vi.waitFor(readTab, { timeout: 60_000, interval: 20 })
}

/** The visible content of a tab. */
export type Shown = {
  titles: string[]
  unread: string[]
  hasDot: boolean
  label: string | null
  note: string
}

/** Reads the content of a tab, even while the list is closed. */
async function shownBy(tab: Page): Promise<Shown> {
  const bell = tab.locator('#bell')
  return {
    titles: await tab.locator('#list li > :first-child').allTextContents(),
    unread: await tab.locator('#list li.unread > :first-child').allTextContents(),
    hasDot: ((await bell.getAttribute('class')) ?? '').includes('unread'),
    label: await bell.getAttribute('aria-label'),
    note: (await tab.locator('#note').textContent()) ?? '',
  }
}
