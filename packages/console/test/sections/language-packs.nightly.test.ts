// Language packs: translations are typed in a grid by keyboard, saved in one request, and loaded by a frontend.
// language-packs.nightly.test.ts tests large packs; language-packs-details.nightly.test.ts
// tests unsaved changes and roles.
import { expect, test } from 'vitest'
import { pair } from '../../../manager/test/kit/language-packs.ts'
import { findButton } from '../kit/find-button.ts'
import { expectFocus, step, tabTo } from '../kit/focus.ts'
import { readFrontendTexts } from '../kit/frontend-page.ts'
import { countSaves, findCell, findGrid, usePacks } from '../kit/packs.ts'
import { useConsole } from '../kit/scene.ts'

const scene = useConsole()
const { ids, openAs, readPack } = usePacks(scene)

test('three translations typed by keyboard are saved in one request, and a frontend shows them', async () => {
  const { page, complaints } = await openAs('ada')
  const grid = findGrid(page)
  const count = countSaves(page)
  const { keyboard } = page
  await step(page, 'missing translations are first', async () => {
    expect(await grid.getByRole('rowheader').allInnerTexts()).toEqual([
      'orders.empty',
      'orders.late',
      'orders.title',
      'zoom',
      'app.title',
    ])
    await grid.getByRole('button', { name: 'de 4 missing' }).waitFor()
  })
  await step(page, 'type', async () => {
    await tabTo(grid)
    // Enter opens the editor; a character opens it, too, and replaces the text.
    await keyboard.press('Enter')
    await expectFocus(page.getByRole('textbox', { name: 'orders.empty in de' }))
    await keyboard.type('Keine Bestellungen')
    await keyboard.press('Enter')
    await expectFocus(grid)
    await keyboard.type('Verspätet')
    await keyboard.press('Enter')
    await keyboard.type('falsch')
    await keyboard.press('Escape')
    await keyboard.type('Bestellungen')
    await keyboard.press('Tab')
    await keyboard.press('Delete')
    await page.getByText('4 unsaved changes').waitFor()
    // Escape undoes the edit of the active cell.
    await keyboard.press('Escape')
    await page.getByText('3 unsaved changes').waitFor()
    expect(await findCell(page, 'orders.title', 1).innerText()).toBe('Orders')
  })
  await step(page, 'save', async () => {
    await findButton(page, 'Save').click()
    await page.getByText('Saved 3 translations').waitFor()
    await expectFocus(grid)
    expect(count()).toBe(1)
    await grid.getByRole('button', { name: 'de 1 missing' }).waitFor()
  })
  expect(await readFrontendTexts(scene, 'de')).toEqual([
    'app.title: Laden',
    'orders.empty: Keine Bestellungen',
    'orders.late: Verspätet',
    'orders.title: Bestellungen',
  ])
  expect(complaints).toEqual([])
})

test('another person’s change of the same translation needs a decision; other changes are merged', async () => {
  const { page } = await openAs('ben')
  await step(page, 'edit', async () => {
    await findCell(page, 'zoom').dblclick()
    await page.keyboard.type('Vergrößern')
    await page.keyboard.press('Enter')
    await findCell(page, 'app.title', 1).dblclick()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Store')
    await page.keyboard.press('Enter')
    await page.getByText('2 unsaved changes').waitFor()
  })
  const { error } = await scene.service.query(
    scene.admin,
    'mutation($project: ID!, $changes: [UpdateLanguagePackKeysInput!]!) { setLanguagePackKeys(projectId: $project, changes: $changes) { id } }',
    {
      project: scene.project.id,
      changes: [
        { packId: ids.de, set: [pair('zoom', 'Lupe')] },
        { packId: ids.en, set: [pair('orders.late', 'Delayed')] },
      ],
    },
  )
  expect(error).toBeNull()
  const dialog = page.getByRole('dialog', { name: 'Somebody else changed the same translations' })
  await step(page, 'decide', async () => {
    await findButton(page, 'Save').click()
    const row = dialog.getByRole('row', { name: /^zoom · de conflict/ })
    await row.getByRole('radio', { name: 'Vergrößern' }).check()
    expect(await dialog.getByRole('radio').count()).toBe(2)
    await findButton(dialog, 'Save result').click()
    await page.getByText('Saved 2 translations').waitFor()
  })
  expect((await readPack('de'))['zoom']).toBe('Vergrößern')
  expect(await readPack('en')).toMatchObject({ 'app.title': 'Store', 'orders.late': 'Delayed' })
})

test('a file is previewed, becomes unsaved changes, and an exported file is inert in a spreadsheet', async () => {
  const { page } = await openAs('dana')
  const dialog = page.getByRole('dialog', { name: 'Import translations' })
  await step(page, 'import', async () => {
    await findButton(page, 'Import').click()
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'translations.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('key;de;fr\nsum;"\'=1+1";x\napp.title;Laden;y\n'),
    })
    await dialog.getByText('Added: 1; changed: 0; removed: 0; unchanged: 1').waitFor()
    await dialog.getByText('The project has no language pack for fr.').waitFor()
    await findButton(dialog, 'Add 1 change').click()
    await page.getByText('1 unsaved change').waitFor()
    expect(await findCell(page, 'sum').innerText()).toContain('=1+1')
    await findButton(page, 'Save').click()
    await page.getByText('Saved 1 translation').waitFor()
    await expectFocus(findGrid(page))
    await findCell(page, 'app.title').waitFor()
  })
  expect((await readPack('de'))['sum']).toBe('=1+1')
  const exported = await step(page, 'export', async () => {
    await findButton(page, 'Export').click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'CSV, for spreadsheets' }).click()
    const stream = await (await download).createReadStream()
    return Buffer.concat(await stream.toArray()).toString()
  })
  expect(exported).toContain("sum,'=1+1,\r\n")
})
