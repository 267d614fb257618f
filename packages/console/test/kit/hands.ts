// Two ways to use the console: with a pointer, and with the keyboard alone. Journeys are written once for both.
import type { Locator, Page } from 'playwright-core'
import { expectFocus, hasFocus, tabTo } from './focus.ts'

export type Hands = {
  readonly page: Page
  /** Opens a section of the project by its title. */
  readonly goTo: (section: string) => Promise<void>
  /** Presses a button or opens a row. */
  readonly press: (target: Locator) => Promise<void>
  readonly fill: (field: Locator, text: string) => Promise<void>
  /** Turns a switch. */
  readonly turn: (target: Locator) => Promise<void>
  readonly pickRadio: (radio: Locator) => Promise<void>
  /** Chooses an option of a list whose search field has the focus. */
  readonly choose: (option: Locator) => Promise<void>
  /** Opens a row of a table, which is a single stop of the Tab key. */
  readonly pressRow: (row: Locator) => Promise<void>
  /** Chooses an option of a list that a button opens. */
  readonly pickOption: (opener: Locator, option: Locator) => Promise<void>
  /** Chooses an item of a list that is part of the page. */
  readonly pickItem: (item: Locator) => Promise<void>
  /** Presses a cell of a grid that keeps the focus itself. */
  readonly pressCell: (grid: Locator, cell: Locator) => Promise<void>
  /** Closes a dialog or a panel without a change. */
  readonly close: (box: Locator) => Promise<void>
}

const waitForSection = (page: Page, title: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()

export const usePointer = (page: Page): Hands => ({
  page,
  goTo: async (section) => {
    await page
      .getByRole('navigation')
      .getByRole('link', { name: new RegExp(`^${section}`) })
      .click()
    await waitForSection(page, section)
  },
  press: (target) => target.click(),
  fill: async (field, text) => {
    await field.click()
    await page.keyboard.type(text)
  },
  turn: clickLabel,
  pickRadio: clickLabel,
  choose: (option) => option.click(),
  // The other cells can have buttons.
  pressRow: (row) => row.getByRole('rowheader').first().click(),
  pickOption: async (opener, option) => {
    await opener.click()
    await option.click()
  },
  pickItem: (item) => item.click(),
  pressCell: (_grid, cell) => cell.click(),
  close: async (box) => {
    await box.getByRole('button', { name: /^(Close|Cancel|Back to editing)$/ }).click()
    await box.waitFor({ state: 'hidden' })
  },
})

/** The inputs of switches and radio buttons are visually hidden, so their labels are clicked. */
const clickLabel = (input: Locator): Promise<void> => input.locator('xpath=ancestor::label').click()

export const useKeyboard = (page: Page): Hands => ({
  page,
  goTo: async (section) => {
    await page.keyboard.press('Control+k')
    await expectFocus(page.getByRole('dialog', { name: 'Search' }).locator('input'))
    await page.keyboard.type(section)
    await chooseByArrows(page.getByRole('menuitem', { name: new RegExp(`^${section}`) }))
    await waitForSection(page, section)
  },
  press: async (target) => {
    await tabTo(target)
    await page.keyboard.press('Enter')
  },
  fill: async (field, text) => {
    await tabTo(field)
    await page.keyboard.type(text)
  },
  turn: async (target) => {
    await tabTo(target)
    await page.keyboard.press('Space')
  },
  pickRadio: async (radio) => {
    await tabTo(radio.page().getByRole('radiogroup').getByRole('radio').first())
    for (let count = 0; count < maxOptions && !(await hasFocus(radio)); count++)
      await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
  },
  choose: (option) => chooseByArrows(option),
  pressRow: async (row) => {
    await row.waitFor()
    await enter(row.locator('xpath=ancestor::*[@role="grid"]'))
    await walkTo(row, 'ArrowDown')
    await page.keyboard.press('Enter')
  },
  pickOption: async (opener, option) => {
    await tabTo(opener)
    await page.keyboard.press('Enter')
    await option.waitFor()
    await walkTo(option, 'ArrowDown')
    await page.keyboard.press('Enter')
  },
  pickItem: async (item) => {
    await item.waitFor()
    await enter(item.locator('xpath=ancestor::*[@role="listbox"]'))
    await walkTo(item, 'ArrowRight')
    await page.keyboard.press('Enter')
  },
  pressCell: async (grid, cell) => {
    await tabTo(grid)
    await chooseByArrows(cell, 'ArrowRight')
  },
  close: async (box) => {
    // The first press can close a tooltip.
    for (let count = 0; count < 2 && (await box.isVisible()); count++) {
      await page.keyboard.press('Escape')
      await box.waitFor({ state: 'hidden', timeout: 2_000 }).catch(() => {})
    }
    await box.waitFor({ state: 'hidden' })
  },
})

const maxOptions = 40
const maxTabs = 80

/** Presses the Tab key until the focus is in a list or a table, and moves it to its first item. */
async function enter(list: Locator): Promise<void> {
  const page = list.page()
  const focus = list.locator(':focus')
  for (let count = 0; count < maxTabs && (await focus.count()) === 0; count++)
    await page.keyboard.press('Tab')
  if ((await focus.count()) === 0) throw new Error(`the Tab key does not reach ${String(list)}`)
  await page.keyboard.press('Control+Home')
}

/** Moves the focus by an arrow key to an item of the list that has it. */
async function walkTo(item: Locator, key: string): Promise<void> {
  const page = item.page()
  for (let count = 0; count < maxOptions && !(await hasFocus(item)); count++) await page.keyboard.press(key)
  await expectFocus(item)
}

const pauseMs = 100
/** Lists mark an item up to half a second after a key or a change of the text. */
const maxPauses = 8

/** Returns the id of the marked item of the list whose field or grid has the focus. */
async function findMark(page: Page): Promise<string | null> {
  const focus = page.locator(':focus')
  for (let count = 0; count < maxPauses; count++) {
    const marked = await focus.getAttribute('aria-activedescendant')
    if (marked !== null) return marked
    await page.waitForTimeout(pauseMs)
  }
  return null
}

/** Moves the mark of a list to an item and presses Enter. The focus stays on the field or grid. */
async function chooseByArrows(item: Locator, key = 'ArrowDown'): Promise<void> {
  const page = item.page()
  await item.waitFor()
  for (let count = 0; count < maxOptions; count++) {
    const marked = await findMark(page)
    if (marked !== null && marked === (await item.getAttribute('id'))) {
      await page.keyboard.press('Enter')
      return
    }
    await page.keyboard.press(key)
  }
  throw new Error(`the key ${key} does not reach ${String(item)}`)
}
