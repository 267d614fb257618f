// The page with a bell of the tutorial docs/start/notify-a-person.md, and ways to serve and to open it.
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { blocksOf, readPage } from './played-page.ts'

/** The page in the browser, and the configuration of nginx. */
const pages = ['start/notify-a-person.md', 'guides/frontends/show-notifications.md']
const readPages = (): string => pages.map((name) => readPage(name)).join('\n')

/** The first block of a language in these pages, with values in the place of names. */
export function codeOfPage(language: string, values: Record<string, string>, page = readPages()) {
  const found = blocksOf(page).find((block) => block.language === language)
  if (found === undefined) throw new Error(`${pages.join(' and ')} have no block of ${language}`)
  const text = Object.entries(values).reduce(
    (filling, [name, value]) => filling.replaceAll(`<${name}>`, value),
    found.text,
  )
  return { line: found.line, text }
}

/** Waits until a tab shows what is asked for, and returns all that it shows then. */
export function waitForTab(tab: Page, expected: Partial<Shown>): Promise<Shown> {
  const look = async (): Promise<Shown> => {
    const shown = await shownBy(tab)
    expect(shown).toMatchObject(expected)
    return shown
  }
  return vi.waitFor(look, { timeout: 60_000, interval: 20 })
}

/** What a tab shows. */
export type Shown = {
  titles: string[]
  unread: string[]
  hasDot: boolean
  label: string | null
  note: string
}

/** Reads what is there, also while the list is closed. */
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
