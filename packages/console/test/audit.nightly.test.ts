// Details of the audit section: further filters, long trails, and another language. sections/audit.nightly.test.ts
// tests the rest.
import { beforeAll, describe, expect, test } from 'vitest'
import { seedProject } from '@manager/harness/seed.ts'
import { appendRows } from '../../manager/test/kit/trail.ts'
import {
  expectRows,
  expectSearch,
  panelOf,
  path,
  rowsOf,
  seedHostileEntries,
  sentence,
  useAuditScene,
} from './kit/audit-page.ts'

const { scene, anna, maria, open } = useAuditScene()

describe('the person who changed a setting', () => {
  test('is found with the keyboard', async () => {
    const { page } = await open()
    await page.getByRole('button', { name: /^Object/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('option', { name: 'Settings' }).waitFor()
    await page.keyboard.type('Sett')
    await page.keyboard.press('Enter')
    await expectSearch(page, { entity: 'settings' })
    await expectRows(page, [sentence, sentence, sentence])
    await page.getByRole('row').nth(1).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await panelOf(page).getByText(`${sentence} by Anna Vogt`).waitFor()
    await page.keyboard.press('Escape')
    await panelOf(page).waitFor({ state: 'detached' })
    await expectSearch(page, { entity: 'settings' })
  })

  test('is a filter, chosen in the directory', async () => {
    const { page } = await open()
    await page.getByRole('button', { name: /^Person/ }).click()
    await page.getByRole('searchbox', { name: 'Search person' }).fill('anna')
    await page.getByRole('option', { name: 'Anna Vogt' }).click()
    await expectSearch(page, { person: anna.id })
    await expectRows(page, [sentence, sentence])
    await page.getByRole('button', { name: 'Person: Anna Vogt' }).click()
    await page.getByRole('option', { name: 'Maria Moser (you)' }).click()
    await expectSearch(page, { person: maria.id })
    await expectRows(page, [sentence])
  })
})

describe('the address', () => {
  test('keeps the page of a long trail', async () => {
    const long = await seedProject(scene.service.sql, 'long')
    await appendRows(scene.service, long.id, 60)
    const { page } = await open('/p/long/audit', scene.admin)
    const first = (): Promise<string | null> => rowsOf(page).first().textContent()
    const firstIs = async (seq: number): Promise<void> => {
      await expect.poll(first, { timeout: 20_000 }).toContain(`change ${seq} `)
    }
    await firstIs(60)
    for (const seq of [35, 10]) {
      await page.getByRole('button', { name: 'Next page' }).click()
      await firstIs(seq)
    }
    await page.getByText('51–60 of 60').waitFor()
    expect(await page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true)
    await page.reload()
    await firstIs(10)
    await page.getByRole('button', { name: 'Previous page' }).click()
    await firstIs(35)
    await page.goBack()
    await firstIs(10)
    await page.getByRole('button', { name: /^Action/ }).click()
    await page.getByRole('option', { name: 'update' }).click()
    await expectSearch(page, { action: 'update' })
    await firstIs(60)
  })

  test('an incomplete search says so and continues', async () => {
    const huge = await seedProject(scene.service.sql, 'huge')
    await appendRows(scene.service, huge.id, 10_100)
    const { page } = await open('/p/huge/audit?action=delete', scene.admin)
    await page.getByRole('heading', { name: 'No match among the searched entries' }).waitFor()
    expect(await rowsOf(page).count()).toBe(0)
    await page.getByRole('button', { name: 'Search older entries' }).click()
    await page.getByRole('heading', { name: 'No older entries' }).waitFor()
    await page.getByRole('button', { name: 'Newest entries' }).click()
    await page.getByRole('heading', { name: 'No match among the searched entries' }).waitFor()
  })
})

describe('hostile values', () => {
  beforeAll(() => seedHostileEntries(scene))

  test('show characters that reorder text by their code', async () => {
    const { page } = await open('/p/hostile/audit?open=2', scene.admin)
    const added = panelOf(page).locator('.diff-line[data-kind="added"]').first()
    expect(await added.locator('.diff-text').textContent()).toBe('invoiceU+202Efdp.exeU+2066')
  })
})

test('speaks German', async () => {
  const { page } = await open(path, maria, { locale: 'de-DE' })
  await expectRows(
    page,
    Array.from({ length: 3 }, () => 'Einstellungen des Mandanten main-tenant geändert'),
  )
  await page.getByRole('button', { name: 'Objekt: alle' }).waitFor()
})
