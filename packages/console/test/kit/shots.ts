// Screenshots for people, who look at them after a change of styles.
import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** Saves a screenshot of the page if TEST_SHOTS names a folder. */
export async function saveShot(page: Page, folder: string, name: string): Promise<void> {
  const root = process.env['TEST_SHOTS']
  if (root === undefined) return
  mkdirSync(`${root}/${folder}`, { recursive: true })
  const file = name.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id').replaceAll(/[^\w=.-]+/g, '_')
  await page.screenshot({ path: `${root}/${folder}/${file}.png`, animations: 'disabled' })
}
