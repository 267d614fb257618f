// Unsaved changes of language packs, and what each role may do with the packs.
import { expect, test } from 'vitest'
import { findButton } from './kit/find-button.ts'
import { findCell, findGrid, packsPath, usePacks } from './kit/packs.ts'
import { onOperation } from './kit/requests.ts'
import { useConsole } from './kit/scene.ts'

const scene = useConsole()
const { ids, openAs, readPack } = usePacks(scene)

test('unsaved changes stay while the person filters, and are not lost without a question', async () => {
  const { page } = await openAs('cleo')
  await findCell(page, 'orders.title', 1).click()
  await page.keyboard.type('My orders')
  await page.keyboard.press('Enter')
  await page.getByRole('searchbox', { name: 'Key or translation' }).fill('zoom')
  await findCell(page, 'orders.title').waitFor({ state: 'detached' })
  await page.getByRole('searchbox', { name: 'Key or translation' }).fill('MY ORD')
  await findCell(page, 'orders.title').waitFor()
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Settings/ })
    .click()
  const question = page.getByRole('dialog', { name: 'Discard 1 unsaved change?' })
  await findButton(question, 'Keep editing').click()
  await page.getByText('1 unsaved change').waitFor()
  expect((await readPack('en'))['orders.title']).toBe('Orders')
})

test('a person who only reads cannot edit; a developer creates and deletes a locale', async () => {
  const reader = await scene.visit(await scene.member('eve', 'readonly'))
  await reader.open(packsPath)
  await findCell(reader.page, 'app.title').dblclick()
  expect(await findGrid(reader.page).getAttribute('aria-readonly')).toBe('true')
  expect(await reader.page.locator('textarea').count()).toBe(0)
  expect(await findButton(reader.page, 'New locale').count()).toBe(0)

  const { page } = await openAs('finn')
  await findButton(page, 'New locale').click()
  await page.keyboard.type('no locale')
  await page.keyboard.press('Enter')
  await page.getByText('name must be a locale such as de or de-AT').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('fr')
  await page.keyboard.press('Enter')
  const panel = page.getByRole('complementary', { name: 'fr' })
  await findButton(panel, 'Delete').click()
  const question = page.getByRole('dialog', { name: 'Delete language pack fr?' })
  await question.getByRole('textbox').fill('fr')
  await findButton(question, 'Delete').click()
  await panel.waitFor({ state: 'detached' })
  expect(await findGrid(page).getByRole('columnheader').allInnerTexts()).toHaveLength(3)
})

test('a content that cannot be read again is requested once, and not in a loop', async () => {
  const { page } = await openAs('gwen')
  let count = 0
  await onOperation(page, 'packContent', async (route) => {
    count++
    await route.fulfill({
      json: { errors: [{ message: 'broken', extensions: { code: 'internal' } }], data: null },
    })
  })
  const { error } = await scene.service.query(
    scene.admin,
    'mutation($project: ID!, $changes: [UpdateLanguagePackKeysInput!]!) { setLanguagePackKeys(projectId: $project, changes: $changes) { id } }',
    { project: scene.project.id, changes: [{ packId: ids.en, set: [{ Key: 'zoom', Value: 'Enlarge' }] }] },
  )
  expect(error).toBeNull()
  // Saving a translation of another locale reads the list again, which reports the new revision.
  await findCell(page, 'orders.late').click()
  await page.keyboard.type('Später')
  await page.keyboard.press('Enter')
  await findButton(page, 'Save').click()
  await page.getByText('Saved 1 translation').waitFor()
  await expect.poll(() => count).toBe(1)
  for (let turn = 0; turn < 20; turn++) {
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
  }
  expect(count).toBe(1)
  // The page still works with the translations that it has read before.
  expect(await findCell(page, 'zoom', 1).innerText()).toBe('Zoom')
})
