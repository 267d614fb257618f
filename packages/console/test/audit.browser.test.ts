// The audit section: who changed a setting, filters in the address, pages by cursor, the state of the chain, and values
// that try to break the page.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'
import { createAudit, runVerification } from '../../manager/test/kit/audit-trail.ts'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { appendRows, checkpointKey, macKey, sealAll, tamper } from '../../manager/test/kit/trail.ts'
import { redirectToSignIn } from './kit/requests.ts'
import { type View, useConsole, waitForPage } from './kit/scene.ts'
import { createWalk } from './kit/walk.ts'

const scene = useConsole()
const path = '/p/main/audit'

let anna: Person
let maria: Person
let settingsId: string
beforeAll(async () => {
  anna = await scene.member('Anna Vogt', 'owner')
  maria = await scene.member('Maria Moser', 'maintainer')
  const { tenantId, id } = scene.project
  const { data } = await scene.service.query(
    anna,
    'query($tenant: ID!) { settings(tenant: $tenant) { id } }',
    { tenant: tenantId },
  )
  settingsId = data.settings.id
  await setKey(anna, id, 'support.mail', 'help@baltic.example')
  await setKey(anna, id, 'support.mail', 'it@baltic.example')
  await setKey(maria, id, 'theme.color', 'blue')
})

async function setKey(person: Person, project: string, key: string, value: string): Promise<void> {
  const { error } = await scene.service.query(
    person,
    `mutation($project: ID!, $id: ID!, $set: [KeyValuePairInput!]) {
      setSettingsKeys(projectId: $project, changes: [{ settingsId: $id, part: "frontend", set: $set }]) { id }
    }`,
    { project, id: settingsId, set: [{ Key: key, Value: value }] },
  )
  expect(error).toBeNull()
}

async function open(address = path, person = maria, view: View = {}) {
  const visit = await scene.visit(person, view)
  await visit.open(address)
  await waitForPage(visit.page)
  return visit
}

const panelOf = (page: Page): Locator => page.getByRole('complementary', { name: /^Entry/ })
const rowsOf = (page: Page): Locator => page.getByRole('grid', { name: 'Audit' }).getByRole('rowheader')
const sentence = 'Settings of tenant main-tenant changed'
/** The router puts texts that look like numbers into quotes. */
const searchOf = (page: Page): Record<string, string> =>
  Object.fromEntries(
    [...new URL(page.url()).searchParams].map(([key, value]) => [key, value.replace(/^"(.*)"$/, '$1')]),
  )

const expectSearch = async (page: Page, search: Record<string, string>): Promise<void> => {
  await expect.poll(() => searchOf(page), { timeout: 10_000 }).toEqual(search)
}

/** Waits until the list has exactly these sentences. */
const expectRows = async (page: Page, sentences: readonly string[]): Promise<void> => {
  await expect
    .poll(() => rowsOf(page).locator('.two-lines > :first-child').allTextContents(), { timeout: 20_000 })
    .toEqual(sentences)
}

describe('the person who changed a setting', () => {
  test('is found with the pointer, from the layer of the settings', async () => {
    const { page, complaints } = await open(`/p/main/settings?tenant=${scene.project.tenantId}`)
    await page.getByRole('link', { name: 'Who changed the layer Tenant', exact: true }).click()
    await expectRows(page, [sentence, sentence, sentence])
    await expectSearch(page, { entity: 'settings', id: settingsId })
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
  const script = '<img src=x onerror="document.title=\'owned\'"><script>alert(1)</script>'
  const reversed = 'invoice\u202Efdp.exe\u2066'
  let hostile: SeededProject
  beforeAll(async () => {
    hostile = await seedProject(scene.service.sql, 'hostile')
    const { database, clock } = scene.service.world
    const event = (name: string) => ({
      projectId: hostile.id,
      entityType: 'trigger',
      entityId: hostile.id,
      action: 'update' as const,
      description: `trigger ${name} updated`,
      classes: { name: 'public', template: 'public' } as const,
      before: { name: script, template: 'short' },
      after: { name, template: 'x'.repeat(10_000) },
      metadata: { [script]: reversed },
    })
    const actor = {
      principal: { type: 'system' as const, id: reversed },
      ipAddress: '',
      userAgent: `${script}${'A'.repeat(400)}`,
    }
    await database.db.transaction((tx) =>
      createAudit(clock).append(tx, actor, event(script), event(reversed), event('ab '.repeat(3_333))),
    )
  })

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
