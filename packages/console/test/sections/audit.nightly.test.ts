// The audit section: who changed a setting, filters in the address, the state of the chain, the export, and values that
// try to break the page. audit.nightly.test.ts tests further filters, long trails and another language.
import { beforeAll, describe, expect, test } from 'vitest'
import { seedProject } from '@manager/harness/seed.ts'
import { runVerification } from '../../../manager/test/kit/audit-trail.ts'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { appendRows, checkpointKey, macKey, sealAll, tamper } from '../../../manager/test/kit/trail.ts'
import {
  expectRows,
  expectSearch,
  panelOf,
  path,
  rowsOf,
  searchOf,
  seedHostileEntries,
  sentence,
  useAuditScene,
} from '../kit/audit-page.ts'
import { redirectToSignIn } from '../kit/requests.ts'
import { createWalk } from '../kit/walk.ts'

const { scene, anna, settings, open } = useAuditScene()

describe('the person who changed a setting', () => {
  test('is found with the pointer, from the layer of the settings', async () => {
    const { page, complaints } = await open(`/p/main/settings?tenant=${scene.project.tenantId}`)
    await page.getByRole('link', { name: 'Who changed the layer Tenant', exact: true }).click()
    await expectRows(page, [sentence, sentence, sentence])
    await expectSearch(page, { entity: 'settings', id: settings.id })
    await rowsOf(page).nth(1).click()
    const panel = panelOf(page)
    await panel.getByText(`${sentence} by Anna Vogt`).waitFor()
    const diff = panel.getByRole('definition')
    expect(await diff.first().textContent()).toBe('−before: help@baltic.example')
    expect(await diff.nth(1).textContent()).toBe('+after: it@baltic.example')
    expect(await violationsOf(page)).toEqual([])
    await panel.getByRole('link', { name: 'main-tenant' }).click()
    await page.waitForURL(`**/settings?tenant=${scene.project.tenantId}`)
    expect(complaints).toEqual([])
  })
})

describe('the address', () => {
  test('keeps the filters and the open entry after a reload and Back', async () => {
    const { page } = await open(`${path}?person=${anna.id}&action=update&range=7d&q=settings`)
    await expectRows(page, [sentence, sentence])
    await rowsOf(page).first().click()
    await panelOf(page).waitFor()
    const filters = { person: anna.id, action: 'update', range: '7d', q: 'settings' }
    const { open: seq = '' } = searchOf(page)
    await expectSearch(page, { ...filters, open: seq })
    await page.reload()
    await expectRows(page, [sentence, sentence])
    await panelOf(page).getByText('it@baltic.example').waitFor()
    await page.getByRole('button', { name: 'Person: Anna Vogt' }).waitFor()
    await page.goBack()
    await panelOf(page).waitFor({ state: 'detached' })
    await expectSearch(page, filters)
    await page.getByRole('button', { name: 'Time: last 7 days' }).click()
    await page.getByLabel('From').fill('2020-01-01')
    await page.getByLabel('To, including').fill('2020-01-31')
    await page.getByRole('button', { name: 'Show these days' }).click()
    await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expectSearch(page, {})
    await expectRows(page, [sentence, sentence, sentence])
  })
})

describe('the chain', () => {
  const verifyByJob = () =>
    runVerification(
      { db: scene.service.world.database.db.write, keys: [checkpointKey], macKey },
      { newRows: 100_000, oldRows: 0 },
    )

  test('is verified on request, and shows where it is broken', async () => {
    const chain = await seedProject(scene.service.sql, 'chain')
    await appendRows(scene.service, chain.id, 12)
    await sealAll(scene.service)
    await verifyByJob()
    const { page } = await open('/p/chain/audit', scene.admin)
    await page.getByText('Chain intact up to entry 12.').waitFor()
    await page.getByText('Sealed by a signed checkpoint').waitFor()
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('Verified all 12 entries: intact.').waitFor()
    await tamper(
      scene.service,
      `update audit_logs set description = 'x' where chain_id = '${chain.id}' and seq = 7`,
    )
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The chain is broken at entry 7').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Show the entry' }).click()
    await expectSearch(page, { open: '7' })
    await page.getByRole('complementary', { name: 'Entry 7' }).getByText('broken here').waitFor()
    await page.getByRole('status').getByRole('button', { name: 'Close' }).click()
    await page.getByText('Chain intact up to entry 12.').waitFor()
  })

  test('people without the permission see neither the section nor the trail', async () => {
    const dora = await scene.member('dora', 'developer')
    const { page } = await open(path, dora)
    await page.getByRole('heading', { name: 'Not found, or no access' }).waitFor()
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).count()).toBe(0)
  })
})

describe('the export', () => {
  test('is the signed trail for administrators, and the list for others', async () => {
    const { page } = await open(`${path}?entity=settings&q=tenant`, scene.admin)
    await page.getByRole('button', { name: 'Export' }).click()
    const dialog = page.getByRole('dialog', { name: 'Export the audit trail of Project main' })
    await dialog.getByText('The export cannot search texts').waitFor()
    // After the session has ended, the download would contain the sign-in page.
    await page.route('**/query', redirectToSignIn)
    await dialog.getByRole('button', { name: 'Download' }).click()
    await page.getByText('The export failed: Your session has ended').waitFor()
    await page.unroute('**/query')
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download' }).click()
    expect((await download).suggestedFilename()).toBe('audit-export.ndjson')
    expect(new URL((await download).url()).search).toBe(
      `?format=ndjson&project_id=${scene.project.id}&entity_type=settings`,
    )
    const other = await open()
    const saved = other.page.waitForEvent('download')
    await other.page.getByRole('button', { name: 'Export CSV' }).click()
    expect((await saved).suggestedFilename()).toBe('main-audit.csv')
  })
})

describe('hostile values', () => {
  beforeAll(() => seedHostileEntries(scene))

  test('stay inert and do not break the layout at 360 px', async () => {
    const visit = await scene.visit(scene.admin, { width: 360, theme: 'dark' })
    const { page, complaints, foreignRequests } = visit
    const walk = createWalk(visit)
    await walk.go('/p/hostile/audit')
    await expect.poll(() => rowsOf(page).count()).toBe(3)
    expect(await violationsOf(page)).toEqual([])
    for (const seq of ['1', '2', '3']) {
      await walk.go(`/p/hostile/audit?open=${seq}`)
      const panel = panelOf(page)
      await panel.getByText('Show all 10,000 characters').waitFor()
      expect(await page.locator('img, main script').count()).toBe(0)
      const size = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ])
      expect(size[0]).toBe(size[1])
      const bounds = await panel.boundingBox()
      expect((bounds?.x ?? 0) + (bounds?.width ?? 0)).toBeLessThanOrEqual(360)
    }
    const panel = panelOf(page)
    expect(await violationsOf(page)).toEqual([])
    await panel.getByText('Show all 10,000 characters').click()
    await panel.getByText('x'.repeat(10_000)).waitFor()
    expect(await page.title()).toContain('Audit')
    expect([complaints, foreignRequests]).toEqual([[], []])
  })
})
