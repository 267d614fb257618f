// The template editor in detail: the policy header, the keyboard, accessibility, and large or hostile texts.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { expectFocus, hasFocus, tabTo } from './kit/focus.ts'
import { type View, type Visit, useConsole } from './kit/scene.ts'
import { seedObjects } from './kit/seed-objects.ts'
import { createWalk } from './kit/walk.ts'

const scene = useConsole()
let path: string
beforeAll(async () => {
  const { endpointId } = await seedObjects(scene)
  path = `/p/main/esb/${endpointId}`
})

const findEditor = (page: Page, name: string): Locator => page.getByRole('textbox', { name, exact: true })

async function openEditor(view: View = {}): Promise<Visit & { editor: Locator }> {
  const visit = await scene.visit(scene.admin, view)
  await createWalk(visit).go(path)
  const editor = findEditor(visit.page, 'Template')
  await editor.waitFor()
  // The preview of the seeded template has a warning.
  await visit.page.locator('.cm-problem-warning').waitFor()
  return { ...visit, editor }
}

const looks: readonly View[] = [
  { width: 1280, theme: 'light' },
  { width: 1280, theme: 'dark' },
  { width: 360, theme: 'light' },
  { width: 360, theme: 'dark' },
]
describe.each(looks)('at $width px in $theme', (look) => {
  test('the open editor follows the policy header, is accessible and fits', async () => {
    const { page, editor, complaints, foreignRequests } = await openEditor(look)
    await editor.click()
    await page.keyboard.insertText('\n<script>alert(1)</script>{{"unclosed')
    await page.locator('.cm-problem-error').waitFor()
    expect(await page.locator('.cm-sign-error').getAttribute('title')).toMatch(/unterminated|unclosed/)
    expect(await violationsOf(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(look.width)
    expect([complaints, foreignRequests]).toEqual([[], []])
    // The editor has adopted its style sheets instead of adding style elements.
    const styles = await page
      .locator('.code-editor')
      .first()
      .evaluate(({ shadowRoot }) => [
        shadowRoot?.adoptedStyleSheets.length,
        shadowRoot?.querySelectorAll('style').length,
      ])
    expect(styles[0]).toBeGreaterThan(0)
    expect(styles[1]).toBe(0)
  })
})

describe('the keyboard', () => {
  test('indents with Tab, and leaves the editor with Escape and Tab', async () => {
    const { page, editor } = await openEditor()
    await tabTo(editor)
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('Tab')
    await expect.poll(() => page.locator('.cm-line').first().textContent()).toMatch(/^ {2}\{/)
    expect(await hasFocus(editor)).toBe(true)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    await expectFocus(page.getByRole('button', { name: 'Sample body' }))
    await page.keyboard.press('Shift+Tab')
    await expectFocus(editor)
    // The editor has the focus again, so Tab indents again.
    await page.keyboard.press('Tab')
    await expect.poll(() => page.locator('.cm-line').first().textContent()).toMatch(/^ {4}\{/)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Shift+Tab')
    await expectFocus(page.getByRole('button', { name: 'Revert to the saved template' }))
  })

  test('passes through the preview, which can only be read', async () => {
    const { page } = await openEditor()
    const preview = findEditor(page, 'Preview')
    await expect.poll(() => preview.textContent()).toContain('"vat": null')
    // Tab would indent in the template editor, which comes before the preview.
    await page.getByRole('button', { name: 'Render again' }).focus()
    await page.keyboard.press('Tab')
    await expectFocus(preview)
    await page.keyboard.type('x')
    expect(await preview.textContent()).not.toContain('x')
    await page.keyboard.press('Tab')
    await expectFocus(page.getByRole('button', { name: /^Line 2:/ }))
  })
})

test('a large file that is dropped on the editor is not read', async () => {
  const { page, editor, complaints } = await openEditor()
  await page.evaluate(() => {
    // oxlint-disable-next-line typescript/unbound-method -- the replacement passes its own `this`
    const read = FileReader.prototype.readAsText
    Object.assign(globalThis, { filesRead: 0 })
    FileReader.prototype.readAsText = function (...file) {
      Object.assign(globalThis, { filesRead: (globalThis as unknown as { filesRead: number }).filesRead + 1 })
      read.apply(this, file)
    }
  })
  const drop = (bytes: number): Promise<[isHandled: boolean, filesRead: number]> =>
    editor.evaluate((element, size) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([new Uint8Array(size).fill(97)], 'dropped.txt'))
      const event = new DragEvent('drop', {
        dataTransfer,
        bubbles: true,
        cancelable: true,
        ...element.getBoundingClientRect().toJSON(),
      })
      element.dispatchEvent(event)
      return [event.defaultPrevented, (globalThis as unknown as { filesRead: number }).filesRead]
    }, bytes)
  expect(await drop(1_048_577)).toEqual([true, 0])
  expect(await drop(5)).toEqual([true, 1])
  await expect.poll(() => editor.textContent()).toContain('aaaaa')
  expect(complaints).toEqual([])
})

describe('a template', () => {
  test('with characters outside of the BMP is marked at the right place', async () => {
    const { page, editor } = await openEditor()
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('"😀😀": {{toJson .Data.vat}}')
    await expect.poll(() => page.locator('.cm-problem-warning').textContent()).toBe('.Data.vat')
    await page.getByRole('button', { name: 'Line 1:16' }).waitFor()
  })

  test('that another person has saved meanwhile is compared before one of them is lost', async () => {
    const { page, editor } = await openEditor()
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{"mine": 1}')
    const id = path.replace(/.*\//, '')
    const other = await scene.member('otto', 'maintainer')
    const { error } = await scene.service.query(
      other,
      'mutation($id: ID!, $input: UpdateEndpointInput!) { updateEndpoint(id: $id, input: $input) { id } }',
      { id, input: { transformationTemplate: '{"theirs": 1}' } },
    )
    expect(error).toBeNull()
    await page.getByRole('button', { name: 'Save template' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('{"theirs": 1}').waitFor()
    await dialog.getByRole('radio').last().check()
    await dialog.getByRole('button', { name: 'Save result' }).click()
    await page.getByText('Saved the template of seeded').waitFor()
    const { rows } = await scene.service.sql.query(
      'select transformation_template from endpoints where id = $1',
      [id],
    )
    expect(rows).toEqual([{ transformation_template: '{"mine": 1}' }])
  })
})
