// The access review from the first decision to the attestation in the exported audit trail, and the evidence queries.
import { readFileSync } from 'node:fs'
import { seedMember, seedProject } from '@manager/harness/seed.ts'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { askExport, formatSealedHeads, hashCanonicalJson } from '../../../manager/test/kit/audit-export.ts'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { appendRows, checkpointKey, sealAll, tamper } from '../../../manager/test/kit/trail.ts'
import { tabTo } from '../kit/focus.ts'
import { attest, countEntries, expectDecided, findButton, findEntry, seedAccess } from '../kit/review.ts'
import { useConsole, waitForPage } from '../kit/scene.ts'

const scene = useConsole()
beforeAll(() => seedAccess(scene))

const verifierPath = new URL('../../../../examples/verify-audit-export.mjs', import.meta.url).pathname
type Verifier = {
  verifyExport: (
    chunks: Iterable<Buffer>,
    checkpoint: string,
    options: { key: string },
  ) => Promise<{ code: number; text: string }>
}

const countAudited = async (entityType: string, action: string): Promise<number> => {
  const { rows } = await scene.service.sql.query<{ count: number }>(
    'select count(*)::int as count from audit_logs where entity_type = $1 and action = $2',
    [entityType, action],
  )
  return rows[0]?.count ?? 0
}

async function openReview() {
  const visit = await scene.visit(scene.admin)
  await visit.open('/system/access-review')
  await findButton(visit.page, 'Review the installation').click()
  await findEntry(visit.page, /jonas/).waitFor()
  return { ...visit, total: await countEntries(visit.page) }
}

/** Downloads the trail in the console. Returns its lines, after the verifier without shared code has accepted them. */
async function exportTrail(page: Page, heads: string): Promise<string[]> {
  await findButton(page, 'Export trail').click()
  const dialog = page.getByRole('dialog', { name: 'Export the audit trail of the installation' })
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    findButton(dialog, 'Download').click(),
  ])
  await dialog.getByText(/^Saved \d+ entries\./).waitFor()
  await findButton(dialog, 'Close').click()
  const file = readFileSync(await download.path())
  const { verifyExport } = (await import(verifierPath)) as Verifier
  const key = checkpointKey.publicKey.toString('base64')
  expect((await verifyExport([file], heads, { key })).text).toMatch(/^ok: .* no row is missing$/)
  return file.toString().trimEnd().split('\n')
}

test('a completed review is attested, and the exported trail proves what was attested', async () => {
  await sealAll(scene.service)
  const heads = await formatSealedHeads(scene.service)
  const { page, complaints, total } = await openReview()
  await expectDecided(page, 0, total)

  // One entry with a comment, in its panel.
  await findEntry(page, /jonas/).getByRole('rowheader').click()
  const panel = page.getByRole('complementary')
  await findButton(panel, 'Revoke').click()
  await panel.getByRole('textbox', { name: 'Comment' }).fill('left the project')
  await expectDecided(page, 1, total)
  await findButton(panel, 'Close').click()

  // All others at once.
  await page.getByRole('checkbox', { name: 'Select All' }).locator('xpath=ancestor::label').click()
  await findEntry(page, /jonas/).getByRole('checkbox').locator('xpath=ancestor::label').click()
  const bulk = page.getByRole('group', { name: /chosen$/ })
  await bulk.getByRole('textbox').fill('still needed')
  await findButton(bulk, 'Approve').click()
  await expectDecided(page, total, total)
  expect(await violationsOf(page)).toEqual([])

  await findButton(page, 'Attest').click()
  const dialog = page.getByRole('dialog', { name: 'Attest the review' })
  await dialog.getByText(`${total - 1} to approve and 1 to revoke`).waitFor()
  await dialog.getByText(`${total} of ${total}`).waitFor()
  await attest(page, 'Q4 review')
  await page.getByText(`Attested ${total} entries:`).waitFor()

  await page.getByRole('link', { name: 'All attestations' }).click()
  await page.getByRole('row', { name: /accessReview/ }).waitFor()
  await page.getByRole('link', { name: 'All queries' }).click()
  const lines = await exportTrail(page, heads)
  const rows = lines.map(
    (line) => JSON.parse(line) as { entity_type: string; action: string; metadata: object },
  )
  const attestation = rows.find(
    ({ entity_type, action }) => entity_type === 'accessReview' && action === 'attest',
  )
  const { rows: stored } = await scene.service.sql.query<{
    entry_id: string
    decision: string
    justification: string
  }>(
    `select encode(entry_id, 'hex') as entry_id, decision, justification from access_attestation_entries order by 1`,
  )
  expect(stored).toHaveLength(total)
  expect(stored.filter(({ justification }) => justification === 'left the project')).toMatchObject([
    { decision: 'revoke' },
  ])
  const digest = hashCanonicalJson(
    stored.map(({ entry_id: entryId, ...decision }) => ({ entryId, ...decision })),
  )
  expect(attestation?.metadata).toMatchObject({
    decision: 'modify',
    comment: 'Q4 review',
    entries: total,
    names_entries: true,
    entries_digest: digest,
  })
  expect(complaints).toEqual([])
})

test('decisions can be made with the keyboard alone', async () => {
  const { page, total } = await openReview()
  await tabTo(page.getByRole('row').nth(1))
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByText('2 entries chosen').waitFor()
  const bulk = page.getByRole('group', { name: /chosen$/ })
  await tabTo(findButton(bulk, 'Modify'))
  await page.keyboard.press('Enter')
  await expectDecided(page, 2, total)
  // The table remembers the row that had the focus.
  await tabTo(page.getByRole('row').nth(2))
  await page.keyboard.press('Enter')
  const panel = page.getByRole('complementary')
  await tabTo(findButton(panel, 'Revoke'))
  await page.keyboard.press('Space')
  await tabTo(panel.getByRole('textbox', { name: 'Comment' }))
  await page.keyboard.type('left in May')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await page.getByRole('grid', { name: 'Entries' }).getByText('left in May').waitFor()
  await expectDecided(page, 2, total)
})

test('if access changes during a review, it is read again and the other decisions stay', async () => {
  const { page, total } = await openReview()
  await findButton(findEntry(page, /jonas/), 'Approve').click()
  const kim = await scene.person('kim')
  await seedMember(scene.service.sql, kim, 'readonly', { projectId: scene.project.id })
  await findButton(page, 'Attest').click()
  await attest(page, 'too late')
  const dialog = page.getByRole('dialog', { name: 'Attest the review' })
  await dialog
    .getByRole('alert')
    .getByText(/access has changed since the report/)
    .waitFor()
  await findButton(dialog, 'Read again').click()
  await page.getByText('Access has changed since the previous list: 1 new, 0 removed, 0 changed.').waitFor()
  await findEntry(page, /kim/).waitFor()
  await expectDecided(page, 1, total + 1)
})

describe('evidence', () => {
  test('runs a query once, shows a row with its position in the trail, and downloads the rows', async () => {
    // A run does not list itself, so another read must exist.
    await askExport(scene.service, scene.admin, { limit: '1' })
    const { page, open, complaints } = await scene.visit(scene.admin)
    await open('/system/evidence')
    await page.getByRole('searchbox').fill('audit records')
    await page.getByRole('row', { name: /Access to audit records/ }).click()
    const rows = page.getByRole('rowheader')
    await rows.first().waitFor()
    const runs = await countAudited('evidence', 'read')
    await rows.first().click()
    const panel = page.getByRole('complementary', { name: 'Row' })
    await panel.getByText('Chain id').waitFor()
    await panel.getByText('Seq', { exact: true }).waitFor()
    await findButton(panel, 'Close').click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      findButton(page, 'Export CSV').click(),
    ])
    // The browser does not send the credential of the test with a download, so only its address is checked.
    expect(new URL(download.url()).pathname).toBe('/api/audit/evidence/audit-access')
    expect(download.suggestedFilename()).toBe('evidence-audit-access.csv')
    expect(await countAudited('evidence', 'read')).toBe(runs)
    await findButton(page, 'Run again').click()
    await expect.poll(() => countAudited('evidence', 'read')).toBe(runs + 1)
    expect(complaints).toEqual([])
  })

  test('verifies all chains on request, and names the broken one', async () => {
    const chain = await seedProject(scene.service.sql, 'ledger')
    await appendRows(scene.service, chain.id, 5)
    const { page, open } = await scene.visit(scene.admin)
    await open('/system/evidence?view=chains')
    await waitForPage(page)
    await findButton(page, 'Verify now').click()
    await page.getByText(/^Verified the chains of \d+ projects/).waitFor()
    await page
      .getByRole('row', { name: /ledger/ })
      .getByText('intact, verified now')
      .waitFor()
    await tamper(
      scene.service,
      `update audit_logs set description = 'x' where chain_id = '${chain.id}' and seq = 3`,
    )
    await findButton(page, 'Verify now').click()
    await page.getByText('The audit chain is broken in: Project ledger.').waitFor()
    await page
      .getByRole('row', { name: /ledger/ })
      .getByText('broken, verified now')
      .waitFor()
    expect(await page.getByText('intact, verified now').count()).toBe(0)
  })
})
