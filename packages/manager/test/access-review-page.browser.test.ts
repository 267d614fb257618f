// Tests the access review page in Chromium: its content at different screen widths, in light and dark mode, and in
// print.
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { reviewPath } from './kit/access-reviews.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { complaintsOf, violationsOf } from './kit/cli-login-page.ts'
import { createMachine, createToken } from '@manager/harness/credentials.ts'
import { launchBrowser } from './kit/pilet-page.ts'
import { useProject } from './kit/project.ts'
import { seedMember, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project, other } = useProject({ withOther: true })
let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
  await seedPeople()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})
afterAll(() => browser?.close())

const hostile = [
  '<script>alert(1)</script>',
  '=cmd()',
  '\u202Egnirts dluow',
  'Very long '.repeat(20),
  'W'.repeat(200),
]

/** Seeds users of all kinds, some with names that try to break the page. */
async function seedPeople(): Promise<void> {
  const sql = (text: string, values: unknown[]) => service.sql.query(text, values)
  const names = ['Alice Moser', 'Bob Huber', 'Chloé Dubois', '李小龍', 'Dana Novák', ...hostile]
  for (const [index, name] of names.entries()) {
    const one: Person = await seedUser(service.sql, `person${index}`)
    await sql('update users set external_name = $2 where id = $1', [one.id, name])
    const role = ['owner', 'developer', 'readonly'][index % 3] as string
    const membership = await seedMember(service.sql, one, role, {
      projectId: index % 2 ? other.id : project.id,
    })
    await seedMember(service.sql, one, 'member', { projectId: project.id, tenantId: project.tenantId })
    const days = [1, 45, 120, 500][index % 4]
    await sql(`update user2projects set updated_at = now() - interval '600 days' where id = $1`, [membership])
    if (index % 5 > 0)
      await sql(`insert into user_activity values ($1, now() - $2 * interval '1 day')`, [one.id, days])
  }
  await sql(`update activity_recording set started_at = now() - interval '700 days'`, [])
  await createMachine(service, admin, project.environmentId)
  await createToken(service, admin, { name: 'build agent' })
}

const open = async (options: Parameters<Browser['newContext']>[0] = {}, query = ''): Promise<Page> => {
  const context = await browser.newContext({ ...options, extraHTTPHeaders: headersOf(admin) })
  context.setDefaultTimeout(60_000)
  const tab = await context.newPage()
  await tab.goto(`${service.url}${reviewPath}${query}`)
  return tab
}
/** Saves a screenshot for manual inspection if TEST_SHOTS is set. */
const keep = async (name: string, take: () => Promise<Uint8Array>): Promise<void> => {
  const folder = process.env['TEST_SHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/${name}`, await take())
}
const widthOf = (tab: Page) =>
  tab.evaluate(() => ({
    shown: document.documentElement.clientWidth,
    needed: document.documentElement.scrollWidth,
  }))

describe('the page', () => {
  test('[access-review.formats] a browser gets the summary and the entries, with names as they are', async () => {
    const tab = await open()
    const complaints = complaintsOf(tab)
    await tab.reload()
    expect(await tab.locator('h1').textContent()).toBe('Access review')
    const names = await tab.locator('.entries tbody th > bdi').allTextContents()
    for (const name of ['Alice Moser', '李小龍', ...hostile]) expect(names).toContain(name)
    expect(await tab.locator('.chart').count()).toBe(4)
    const order = await tab.locator('.entries strong').allTextContents()
    expect(order.toSorted((a, b) => ranks.indexOf(a) - ranks.indexOf(b))).toEqual(order)
    expect(new Set(order)).toEqual(new Set(ranks))
    expect(complaints).toEqual([])
  })
  const ranks = ['Revoke', 'Review', 'Keep']

  test('the bars have the length of their numbers, and a text of their own', async () => {
    const tab = await open()
    const rows = await tab.locator('.chart').first().locator('tr').all()
    const bars = await Promise.all(
      rows.map(async (row) => ({
        count: Number(await row.locator('.number').textContent()),
        width: Number(await row.locator('.fill').getAttribute('width')),
        text: await row.getByRole('img').getAttribute('aria-label'),
      })),
    )
    const longest = Math.max(...bars.map(({ count }) => count))
    for (const { count, width, text } of bars) {
      expect(width).toBeCloseTo((count / longest) * 100, 0)
      expect(text).toMatch(new RegExp(`: ${count} ${count === 1 ? 'entry' : 'entries'}$`))
    }
  })

  test('has nothing that axe finds wrong, in light and dark, wide and narrow, and does not scroll sideways', async () => {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1_024, 360]) {
        // Check only one project: axe would take several seconds for all rows, and all rows look the same.
        const tab = await open({ colorScheme, viewport: { width, height: 800 } }, `?project_id=${other.id}`)
        await keep(`review-${width}-${colorScheme}.png`, () => tab.screenshot({ fullPage: width > 500 }))
        expect([colorScheme, width, await violationsOf(tab)]).toEqual([colorScheme, width, []])
        const { shown, needed } = await widthOf(tab)
        expect([width, needed]).toEqual([width, shown])
      }
  })

  test('the table is reached and scrolled by keyboard where it has no room', async () => {
    const tab = await open({ viewport: { width: 360, height: 800 } })
    for (let tabs = 0; tabs < 3; tabs++) await tab.keyboard.press('Tab')
    const region = tab.getByRole('region', { name: 'Entries' })
    expect(await region.evaluate((element) => element === document.activeElement)).toBe(true)
    await tab.keyboard.press('ArrowRight')
    await expect.poll(() => region.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0)
  })

  test('is printed with its bars, and the head of the table on every page', async () => {
    const tab = await open({ colorScheme: 'dark' })
    await tab.emulateMedia({ media: 'print' })
    const styles = await tab.evaluate(() => {
      const styleOf = (selector: string) => getComputedStyle(document.querySelector(selector) as Element)
      return {
        ground: styleOf('body').backgroundColor,
        text: styleOf('body').color,
        head: styleOf('.entries thead').display,
        overflow: styleOf('.scroll').overflowX,
        bar: styleOf('.fill').printColorAdjust,
        row: styleOf('.entries tbody tr').breakInside,
      }
    })
    expect(styles).toEqual({
      ground: 'rgb(255, 255, 255)',
      text: 'rgb(0, 0, 0)',
      head: 'table-header-group',
      overflow: 'visible',
      bar: 'exact',
      row: 'avoid',
    })
    const pdf = await tab.pdf({ preferCSSPageSize: true })
    await keep('review.pdf', () => Promise.resolve(pdf))
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
  })

  test('[access-review.attest] is attested by its form, with a decision, a comment and a confirmation', async () => {
    for (const [colorScheme, width] of [['light', 1_024] as const, ['dark', 360] as const]) {
      const look = { colorScheme, viewport: { width, height: 800 } }
      const tab = await open(look, `?project_id=${other.id}`)
      const complaints = complaintsOf(tab)
      const attest = tab.getByRole('button', { name: 'Attest' })
      await attest.click()
      // No decision is preselected.
      const radios = tab.getByRole('group', { name: /^Decision \(all \d+ entries\)$/ }).getByRole('radio')
      expect(await radios.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked))).toEqual([
        false,
        false,
        false,
      ])
      await tab.getByRole('radio', { name: 'Approve: this access is appropriate' }).check()
      await tab.getByLabel('Comment').fill('As every quarter\nby two of us')
      await attest.click()
      const confirmed = tab.getByRole('checkbox', { name: /^I have reviewed the access to the project/ })
      expect(await confirmed.evaluate((box) => box.matches(':focus:invalid'))).toBe(true)
      await confirmed.check()
      await keep(`attest-form-${width}-${colorScheme}.png`, () => tab.locator('.attest').screenshot())
      const sent = tab.waitForRequest((request) => request.method() === 'POST')
      await attest.click()
      const { origin, 'sec-fetch-site': site } = await (await sent).allHeaders()
      expect([origin, site]).toEqual(['null', 'same-origin'])
      await tab.locator('h1', { hasText: 'Attested' }).waitFor()
      const shown = await tab.locator('dd').allTextContents()
      expect(shown).toEqual(expect.arrayContaining(['Approve', 'As every quarter\nby two of us']))
      await keep(`attested-${width}-${colorScheme}.png`, () => tab.screenshot())
      expect(await violationsOf(tab)).toEqual([])
      const { shown: visible, needed } = await widthOf(tab)
      expect(needed).toBe(visible)
      await tab.getByRole('link', { name: 'Open the review again' }).click()
      await tab.locator('h1', { hasText: 'Access review' }).waitFor()
      expect(await tab.title()).toBe('Access review of Project other')
      expect(complaints).toEqual([])
    }
    const { rows } = await service.sql.query('select decision, comment, project_id from access_attestations')
    expect(rows).toEqual(
      Array.from({ length: 2 }, () => ({
        decision: 'approve',
        comment: 'As every quarter\nby two of us',
        project_id: other.id,
      })),
    )
  })

  test('what somebody sees who is no administrator is without faults, and about this page', async () => {
    for (const [colorScheme, width] of [['light', 1_024] as const, ['dark', 360] as const]) {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: 800 },
        extraHTTPHeaders: headersOf(await seedUser(service.sql, `stranger ${width}`)),
      })
      const tab = await context.newPage()
      expect((await tab.goto(service.url + reviewPath))?.status()).toBe(403)
      await keep(`refused-${width}-${colorScheme}.png`, () => tab.screenshot())
      expect(await tab.locator('main').textContent()).not.toMatch(/link again|terminal|login/)
      expect(await violationsOf(tab)).toEqual([])
    }
  })

  test('a project is named, and its CSV is one click away', async () => {
    const tab = await open({}, `?project_id=${other.id}`)
    expect(await tab.title()).toBe('Access review of Project other')
    expect(await tab.locator('dd').first().textContent()).toBe('Project Project other')
    const [download] = await Promise.all([
      tab.waitForEvent('download'),
      tab.getByRole('link', { name: 'CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^access-review-[0-9a-f-]{36}\.csv$/)
  })
})
