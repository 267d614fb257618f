// A grid of 10,000 keys scrolls with few rows in the document, and saves 500 edits in one request.
import { beforeAll, expect, test } from 'vitest'
import { step } from './kit/focus.ts'
import { countSaves, packsPath } from './kit/packs.ts'
import { useConsole } from './kit/scene.ts'
import { seedPack } from './kit/seed-pack.ts'

const scene = useConsole()
const keyCount = 10_000
const editCount = 500
const maxRows = 60
const nameKey = (number: number): string => `page.key${String(number).padStart(5, '0')}`
let deId: string

beforeAll(async () => {
  const { sql } = scene.service
  const keys = Array.from({ length: keyCount }, (_, index) => nameKey(index))
  const translate = (prefix: string, own: readonly string[]) =>
    Object.fromEntries(own.map((key) => [key, `${prefix} ${key}`]))
  await seedPack(sql, scene.project.id, 'en', translate('Text', keys))
  // The first keys are missing, so that they are the first rows.
  deId = await seedPack(sql, scene.project.id, 'de', translate('Wort', keys.slice(editCount)))
})

test(`${keyCount} keys scroll with at most ${maxRows} rows in the document, and the search finds the last one`, async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open(packsPath)
  const grid = page.getByRole('grid', { name: 'Language packs' })
  const findRow = (number: number) => grid.getByRole('row', { name: nameKey(number) })
  await findRow(0).waitFor()
  await page.getByText(/^10,000 keys, 2 locales$/).waitFor()
  expect(await grid.getAttribute('aria-rowcount')).toBe(String(keyCount + 1))
  await step(page, 'scroll', async () => {
    await grid.hover()
    const counts: number[] = []
    for (let turn = 0; turn < 50; turn++) {
      counts.push(await grid.getByRole('row').count())
      await page.mouse.wheel(0, 1_500)
    }
    expect(counts.filter((count) => count > maxRows)).toEqual([])
    expect(await findRow(100).count()).toBe(0)
    await grid.focus()
    await page.keyboard.press('Control+End')
    await findRow(keyCount - 1).waitFor()
  })
  await step(page, 'search', async () => {
    await page.getByRole('searchbox', { name: 'Key or translation' }).fill(`Wort ${nameKey(7_777)}`)
    await expect.poll(() => grid.getByRole('rowheader').allInnerTexts()).toEqual([nameKey(7_777)])
  })
})

test(`${editCount} edits are pasted, and saved in one request`, async () => {
  const { page, open } = await scene.visit(scene.admin)
  const count = countSaves(page)
  await open(packsPath)
  const grid = page.getByRole('grid', { name: 'Language packs' })
  await grid.getByRole('gridcell').first().click()
  const lines = Array.from({ length: editCount }, (_, index) => `Neu ${index}`).join('\n')
  await page.evaluate((text) => navigator.clipboard.writeText(text), lines)
  await page.keyboard.press('Control+v')
  await page.getByText(`${editCount} unsaved changes`).waitFor()
  const startedAt = performance.now()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(`Saved ${editCount} translations`).waitFor()
  process.stdout.write(
    `${editCount} of ${keyCount} keys saved in ${(performance.now() - startedAt).toFixed(0)} ms\n`,
  )
  expect(count()).toBe(1)
  const { rows } = await scene.service.sql.query<{ count: number; last: string }>(
    `select jsonb_array_length(content) as count, (
       select pair ->> 'Value' from jsonb_array_elements(content) pair where pair ->> 'Key' = $2
     ) as last from language_packs where id = $1`,
    [deId, nameKey(editCount - 1)],
  )
  expect(rows).toEqual([{ count: keyCount, last: `Neu ${editCount - 1}` }])
})
