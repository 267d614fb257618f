// The pilets section with many versions, and an upload by keyboard alone.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { addPackages } from '../../manager/test/kit/pilet-rows.ts'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { expectFocus, step, tabTo } from './kit/focus.ts'
import { chooseFiles, dropFiles, findUpload, pack, toFile } from './kit/pilet-packages.ts'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()
const path = '/p/main/pilets'
const versionCount = 1_000
const maxRows = 60
const name = '@many/versions'

beforeAll(async () => {
  const packages = Array.from({ length: versionCount }, (_, index) => ({ name, version: `1.0.${index}` }))
  await addPackages(scene.service.sql, scene.project.id, packages)
})

describe(`a list of ${versionCount} versions`, () => {
  test('has few rows in the document, and pages through all of them', async () => {
    const { page, open } = await scene.visit(scene.admin)
    await open(`${path}?q=${encodeURIComponent(name)}&size=100`)
    await waitForPage(page)
    await page.getByText('1–100 of 1,000').waitFor()
    await page.getByRole('row', { name: `${name} 1.0.999` }).waitFor()
    expect(await page.getByRole('row').count()).toBeLessThan(maxRows)
    await page.goto(`${scene.origin}/console${path}?q=${encodeURIComponent(name)}&size=100&page=10`)
    await page.getByText('901–1,000 of 1,000').waitFor()
    await page.getByRole('row', { name: `${name} 1.0.99`, exact: true }).waitFor()
    expect(await page.getByRole('row').count()).toBeLessThan(maxRows)
  })

  test('grows in the panel until all versions are shown', async () => {
    // A pilet whose name contains the same text must not appear.
    await addPackages(scene.service.sql, scene.project.id, [{ name: `${name}-other`, version: '9.9.9' }])
    const { rows } = await scene.service.sql.query<{ id: string }>(
      "select id from pilet_packages where name = $1 and version = '1.0.0'",
      [name],
    )
    const { page, open } = await scene.visit(scene.admin)
    await open(`${path}?open=${rows[0]?.id}&tab=versions`)
    const panel = page.getByRole('complementary')
    const more = panel.getByRole('button', { name: 'Show more versions' })
    const countVersions = () => panel.locator('.section-row').count()
    for (let expected = 100; expected <= versionCount; expected += 100) {
      await expect.poll(countVersions, { timeout: 20_000 }).toBe(expected)
      await more.click()
    }
    // The last request finds the other pilet, so all versions have been read.
    await expect.poll(() => more.count()).toBe(0)
    expect(await countVersions()).toBe(versionCount)
    expect(await panel.getByText('9.9.9').count()).toBe(0)
    await panel.getByText('1.0.0', { exact: true }).last().waitFor()
  })
})

test('a package is uploaded, described and pinned with only the keyboard', async () => {
  const { page, open, complaints } = await scene.visit(scene.admin)
  const file = pack({ name: 'by-keyboard', version: '1.0.0' })
  const button = (text: string | RegExp) => page.getByRole('button', { name: text, exact: true })
  const dialog = page.getByRole('dialog')
  await open(path)
  await waitForPage(page)
  await step(page, 'upload', async () => {
    await tabTo(button('Upload').first())
    await page.keyboard.press('Enter')
    await expectFocus(button('Choose files'))
    await chooseFiles(page, [file], () => page.keyboard.press('Enter'))
    await tabTo(dialog.getByRole('button', { name: 'Upload 1 file' }))
    await page.keyboard.press('Enter')
    const row = findUpload(page, file.name)
    await row.getByText('uploaded, enabled').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await tabTo(row.getByRole('button', { name: 'Open' }))
    await page.keyboard.press('Enter')
  })
  const panel = page.getByRole('complementary', { name: 'by-keyboard' })
  await step(page, 'describe', async () => {
    await expectFocus(panel)
    await tabTo(panel.getByRole('button', { name: 'Edit' }))
    await page.keyboard.press('Enter')
    await expectFocus(dialog.getByRole('textbox', { name: 'Description' }))
    await page.keyboard.type('Typed')
    await tabTo(dialog.getByRole('button', { name: 'Save' }))
    await page.keyboard.press('Enter')
    await panel.getByText('Typed').waitFor()
  })
  await step(page, 'disable', async () => {
    await tabTo(panel.getByRole('button', { name: 'Disable' }))
    await page.keyboard.press('Enter')
    await tabTo(dialog.getByRole('button', { name: 'Disable' }))
    await page.keyboard.press('Enter')
    await expectFocus(panel.getByRole('button', { name: 'Enable' }))
  })
  expect(complaints).toEqual([])
})

test('a tester uploads versions that stay disabled until a developer enables them', async () => {
  const tester = await scene.member(`tester-${randomUUID().slice(0, 8)}`, 'tester')
  const { page, open } = await scene.visit(tester)
  await open(path)
  await waitForPage(page)
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
  await page.getByText('With your role, versions are stored disabled.').waitFor()
  const file = pack({ name: 'by-tester', version: '1.0.0' })
  await chooseFiles(page, [file], () => page.getByRole('button', { name: 'Choose files' }).click())
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  const row = findUpload(page, file.name)
  await row.getByText('uploaded, disabled').waitFor()
  await row.getByRole('button', { name: 'Open' }).click()
  await page.getByText('Developers can enable this version.').waitFor()
  expect(await page.getByRole('button', { name: 'Enable', exact: true }).count()).toBe(0)
})

test('a dropped folder of many files is read only as far as the list has room', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open(path)
  await waitForPage(page)
  await page.evaluate(() => {
    // oxlint-disable-next-line typescript/unbound-method -- the replacement passes its own `this`
    const { slice } = Blob.prototype
    Object.assign(globalThis, { filesRead: 0 })
    Blob.prototype.slice = function (...range) {
      Object.assign(globalThis, { filesRead: (globalThis as unknown as { filesRead: number }).filesRead + 1 })
      return slice.apply(this, range)
    }
  })
  const files = Array.from({ length: 500 }, (_, index) =>
    toFile(`part-${index}.js`, Buffer.from('export {}')),
  )
  await dropFiles(page, files)
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The list has at most 20 files.').waitFor()
  await expect.poll(() => dialog.getByText('ready', { exact: true }).count()).toBe(20)
  expect(await page.evaluate(() => (globalThis as unknown as { filesRead: number }).filesRead)).toBe(20)
})
