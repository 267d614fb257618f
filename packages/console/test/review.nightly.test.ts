// The print views of the access review and of evidence as PDF files: the number of pages, repeated heads, whole rows.
import { mkdirSync, writeFileSync } from 'node:fs'
import { seedMember, seedUser } from '@manager/harness/seed.ts'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { appendRows } from '../../manager/test/kit/trail.ts'
import { readPdfPages } from './kit/pdf.ts'
import { attest, expectDecided, findButton, findEntry, seedAccess } from './kit/review.ts'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()
const peopleCount = 120
const names = Array.from({ length: peopleCount }, (_, index) => `member-${String(index).padStart(3, '0')}`)
beforeAll(async () => {
  await seedAccess(scene)
  for (const name of names) {
    const person = await seedUser(scene.service.sql, name)
    await seedMember(scene.service.sql, person, 'developer', { projectId: scene.project.id })
  }
}, 120_000)

/** Prints the page. Keeps the file and a picture for people if TEST_SHOTS is set. */
async function printPage(page: Page, name: string): Promise<string[]> {
  const pdf = await page.pdf({ preferCSSPageSize: true })
  const folder = process.env['TEST_SHOTS']
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/${name}.pdf`, pdf)
    await page.emulateMedia({ media: 'print', colorScheme: 'light' })
    await page.setViewportSize({ width: 1040, height: 720 })
    await page.screenshot({ path: `${folder}/${name}-print.png` })
    await page.emulateMedia({ media: null, colorScheme: null })
  }
  return readPdfPages(pdf)
}

const expectHeads = (pages: readonly string[], heads: string): void => {
  for (const [index, text] of pages.entries())
    expect([index, text.includes(heads), text.includes(`${index + 1}/${pages.length}`)]).toEqual([
      index,
      true,
      true,
    ])
}

test('a review prints to pages with the head on each, whole rows, and its attestation', async () => {
  const { page, open, complaints } = await scene.visit(scene.admin, { theme: 'dark' })
  await open('/system/access-review?scope=system')
  await findEntry(page, /member/)
    .first()
    .waitFor()
  await findButton(findEntry(page, /jonas/), 'Revoke').click()
  const total = await page.getByText(/^1 of \d+ decided$/).innerText()
  await findButton(page, 'Print view').click()
  await page.getByRole('heading', { name: 'Access review: The whole installation' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  const pages = await printPage(page, 'review')
  // A sheet has 12 to 20 rows of two lines.
  expect(pages.length).toBeGreaterThanOrEqual(7)
  expect(pages.length).toBeLessThanOrEqual(11)
  expectHeads(pages, 'WhoAccesstoRoleGranted')
  expect(pages[0]).toContain('Accessreview:Thewholeinstallation')
  expect(pages[0]).toMatch(/Printedbyadmin/)
  expect(pages[0]).toContain(total.replaceAll(/\s/g, ''))
  for (const name of names) {
    const onPages = pages.filter((text) => text.includes(`${name}Person,${name}@example.com`))
    expect([name, onPages.length]).toEqual([name, 1])
  }
  expect(pages.at(-1)).toContain('Thisreviewisnotattested.')

  await findButton(page, 'Back to the list').click()
  await findButton(page, 'Attest').click()
  const dialog = page.getByRole('dialog', { name: 'Attest the review' })
  await dialog.getByRole('button', { name: /without a decision/ }).click()
  await page.getByRole('option', { name: 'Approve' }).click()
  await attest(page, 'Printed for the auditor')
  await page.getByText(/^Attested \d+ entries:/).waitFor()
  await findButton(page, 'Print view').click()
  const [last = ''] = (await printPage(page, 'review-attested')).slice(-1)
  expect(last).toContain('Printedfortheauditor')
  expect(complaints).toEqual([])
}, 120_000)

test('evidence prints all rows of its filter', async () => {
  await appendRows(scene.service, scene.project.id, 60)
  const { page, open, complaints } = await scene.visit(scene.admin)
  await open('/system/evidence?query=settings-changes&print=1')
  await page.getByRole('heading', { name: /^Evidence: / }).waitFor()
  const [first = ''] = await printPage(page, 'evidence-empty')
  expect(first).toContain('0of0')
  expect(first).toContain('Therearenorows.')
  await open('/system/evidence?query=audit-access&print=1')
  await waitForPage(page)
  const pages = await printPage(page, 'evidence')
  expectHeads(pages, 'OccurredatDescription')
  expect(pages[0]).toContain('Theaudittrailisintact.')
  expect(complaints).toEqual([])
}, 120_000)

test('a large review stays usable: filter, decide for all that match, and undo', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open('/system/access-review?scope=system&q=member-')
  await findEntry(page, /member-000/).waitFor()
  await page.getByRole('checkbox', { name: 'Select All' }).locator('xpath=ancestor::label').click()
  await page.getByRole('button', { name: `Choose all ${peopleCount} matching entries` }).click()
  const bulk = page.getByRole('group', { name: `${peopleCount} entries chosen` })
  await findButton(bulk, 'Modify').click()
  const total = Number(/of (\d+)/.exec(await page.locator('.review-status .progress-text').innerText())?.[1])
  await expectDecided(page, peopleCount, total)
  await page.getByRole('checkbox', { name: 'Select All' }).locator('xpath=ancestor::label').click()
  await findButton(page, 'Remove decision').click()
  await expectDecided(page, peopleCount - 25, total)
}, 120_000)
