// A list of 10,000 tenants: the document has few rows, the address preserves the state of the list, and the first
// row is visible within a second.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { step } from './kit/focus.ts'
import { measureFirstRow, nameTenant, seedTenants } from './kit/large-list.ts'
import { useConsole } from './kit/scene.ts'

const scene = useConsole()
beforeAll(() => seedTenants(scene))

const maxRows = 60
const largestPage = 100

describe.each([
  { path: 'tenants', label: 'Tenants' },
  { path: 'access', label: 'Access matrix' },
])('the page $path', ({ path, label }) => {
  test(`has at most ${maxRows} rows in the document while it scrolls through the largest page`, async () => {
    const { page, open } = await scene.visit(scene.admin)
    await open(`/p/main/${path}?size=${largestPage}`)
    const grid = page.getByRole('grid', { name: label })
    const findRow = (number: number) => grid.getByRole('row', { name: new RegExp(`^${nameTenant(number)}`) })
    await step(page, 'scroll', async () => {
      await findRow(1).waitFor()
      expect(await page.getByText(/^1–100 of /).count()).toBe(1)
      await grid.hover()
      const counts: number[] = []
      for (let turn = 0; turn < 40 && (await findRow(largestPage).count()) === 0; turn++) {
        counts.push(await grid.getByRole('row').count())
        await page.mouse.wheel(0, 300)
      }
      await findRow(largestPage).waitFor()
      counts.push(await grid.getByRole('row').count())
      expect(counts.filter((count) => count > maxRows)).toEqual([])
      expect(await findRow(1).count()).toBe(0)
    })
  })
})

/** Reads the state that the address must restore. */
async function readList(page: Page) {
  const grid = page.getByRole('grid', { name: 'Tenants' })
  const selected = grid.getByRole('row', { selected: true }).getByRole('rowheader')
  const [firstRow] = await grid.getByRole('rowheader').allInnerTexts()
  return {
    text: await page.getByRole('searchbox', { name: 'Name, slug or id' }).inputValue(),
    mode: await page.getByRole('button', { name: /Mode/ }).innerText(),
    sort: await grid.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'),
    size: await page.getByRole('button', { name: /Rows per page/ }).innerText(),
    range: await page.getByText(/^\d+–\d+ of /).innerText(),
    firstRow: firstRow?.split('\n')[0],
    selected: (await selected.allInnerTexts()).map((text) => text.split('\n')[0]),
    panels: await page.getByRole('complementary').getByRole('heading', { level: 2 }).allInnerTexts(),
  }
}

async function expectList(page: Page, expected: Awaited<ReturnType<typeof readList>>): Promise<void> {
  await expect.poll(() => readList(page), { timeout: 20_000 }).toEqual(expected)
}

/** Dedicated tenants whose name contains "Customer 0", in descending order. */
const firstPage = {
  text: 'Customer 0',
  mode: 'Mode:\ndedicated',
  sort: 'descending',
  size: '50',
  range: '1–50 of 4,999',
  firstRow: nameTenant(9_998),
  selected: [],
  panels: [],
}
const secondPage = { ...firstPage, range: '51–100 of 4,999', firstRow: nameTenant(9_898) }
const openItem = { ...secondPage, selected: [nameTenant(9_894)], panels: [nameTenant(9_894)] }

test('filter, order, page and open item survive reload and Back', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open('/p/main/tenants')
  await step(page, 'filter and sort', async () => {
    await page.getByRole('searchbox', { name: 'Name, slug or id' }).fill(firstPage.text)
    await page.getByRole('button', { name: /Mode/ }).click()
    await page.getByRole('option', { name: 'dedicated' }).click()
    await page.getByRole('button', { name: /Rows per page/ }).click()
    await page.getByRole('option', { name: '50' }).click()
    await page.getByRole('columnheader', { name: 'Name' }).click()
    await page.getByRole('columnheader', { name: 'Name' }).click()
    await expectList(page, firstPage)
  })
  await step(page, 'open an item of the next page', async () => {
    await page.getByRole('button', { name: 'Next page' }).click()
    await expectList(page, secondPage)
    await page.getByRole('row', { name: new RegExp(`^${nameTenant(9_894)}`) }).click()
    await expectList(page, openItem)
  })
  await step(page, 'reload', async () => {
    await page.reload()
    await expectList(page, openItem)
  })
  await step(page, 'return from another section', async () => {
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Applications/ })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Applications' }).waitFor()
    await page.goBack()
    await expectList(page, openItem)
  })
  await step(page, 'close the item and return to the first page', async () => {
    await page.goBack()
    await expectList(page, secondPage)
    await page.goBack()
    await expectList(page, firstPage)
  })
})

const runs = 9
const findMedian = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Infinity

test('the first row is visible within a second, from an address and from a link', async () => {
  const times = []
  for (let run = 0; run < runs; run++) times.push(await measureFirstRow(await scene.visit(scene.admin)))
  const [address, link] = [times.map((run) => run.address), times.map((run) => run.link)]
  process.stdout.write(`first of 10,000 tenants: address ${address.join(' ')}, link ${link.join(' ')} ms\n`)
  expect(findMedian(address)).toBeLessThan(1_000)
  expect(findMedian(link)).toBeLessThan(1_000)
})
