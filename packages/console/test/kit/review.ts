// Opens an access review with several kinds of access.
import { createToken } from '@manager/harness/credentials.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Scene } from './scene.ts'

/** Seeds two members of the project, a token that never expires, and a machine user. */
export async function seedAccess(scene: Scene): Promise<void> {
  const ines = await scene.member('ines', 'owner')
  await scene.member('jonas', 'tester')
  await createToken(scene.service, ines, { name: 'nightly report' })
  await seedMachineUser(scene.service.sql, scene.project)
}

export const findButton = (within: Page | Locator, name: string | RegExp): Locator =>
  within.getByRole('button', { name, exact: true })

export const findEntry = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('grid', { name: 'Entries' }).getByRole('row', { name })

/** Waits until the progress says that this many entries are decided. */
export const expectDecided = async (page: Page, decided: number, total: number): Promise<void> => {
  await expect
    .poll(() => page.locator('.review-status .progress-text').textContent())
    .toBe(`${decided} of ${total} decided`)
}

export const countEntries = async (page: Page): Promise<number> => {
  const text = (await page.locator('.review-status .progress-text').textContent()) ?? ''
  return Number(/of (\d+) decided/.exec(text)?.[1])
}

/** Confirms and sends the open attestation. */
export async function attest(page: Page, comment: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Attest the review' })
  await dialog.getByRole('textbox', { name: 'Comment' }).fill(comment)
  await dialog.getByText(/^I have reviewed/).click()
  await findButton(dialog, /^Attest \d+ entr/).click()
}
