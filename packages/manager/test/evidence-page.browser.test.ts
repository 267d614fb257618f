// Tests the evidence pages in Chromium: their content at different screen widths, in light and dark mode, and in print.
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { complaintsOf, violationsOf } from './kit/cli-login-page.ts'
import { launchBrowser } from './kit/pilet-page.ts'
import { useProject } from './kit/project.ts'
import { seedUser } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()
const list = '/api/audit/evidence'
let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
  await grantAccess()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})
afterAll(() => browser?.close())

const names = ['Alice Moser', '李小龍', '<script>alert(1)</script>', '\u202Egnirts dluow', 'W'.repeat(200)]

async function grantAccess(): Promise<void> {
  for (const [index, name] of names.entries()) {
    const { id } = await seedUser(service.sql, `person${index}`)
    await service.sql.query('update users set external_name = $2, external_email = $3 where id = $1', [
      id,
      name,
      `person${index}@example.com`,
    ])
    const { data } = await service.query(
      admin,
      'mutation($p: ID!, $u: ID!) { made: addUserToProject(projectID: $p, userID: $u, role: "developer") { id } }',
      { p: project.id, u: id },
    )
    await service.query(
      admin,
      'mutation($id: ID!) { updateUserProjectRole(id: $id, role: "owner") { id } }',
      {
        id: data.made.id,
      },
    )
  }
  await service.sql.query(
    `insert into auth_failures (minute, event, kind, client, count)
     select date_trunc('minute', now()) - n * interval '1 minute', 'failure', 'pat', '192.0.2.' || n, n
     from generate_series(1, 8) n`,
  )
}

const open = async (path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> => {
  const context = await browser.newContext({ ...options, extraHTTPHeaders: headersOf(admin) })
  context.setDefaultTimeout(60_000)
  const tab = await context.newPage()
  await tab.goto(service.url + path)
  return tab
}
/** Saves a screenshot for manual inspection if TEST_SHOTS is set. */
const keep = async (name: string, take: () => Promise<Uint8Array>): Promise<void> => {
  const folder = process.env['TEST_SHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/${name}`, await take())
}

describe('the pages of evidence', () => {
  test('[evidence.result] lead from the list to the rows, to another window, and to the CSV', async () => {
    const tab = await open(list)
    const complaints = complaintsOf(tab)
    await tab.getByRole('link', { name: 'Granted access' }).click()
    expect(await tab.locator('h1').textContent()).toBe('Granted access')
    const cells = await tab.locator('.evidence td > bdi').allTextContents()
    for (const name of names) expect(cells).toContain(name)
    await tab.getByLabel('From').fill('2026-01-01')
    await tab.getByLabel('Until (not included)').fill('2026-02-01')
    await tab.getByRole('button', { name: 'Show' }).click()
    await tab.getByText('This window contains no rows.').waitFor()
    expect(await tab.getByLabel('From').inputValue()).toBe('2026-01-01')
    const [download] = await Promise.all([
      tab.waitForEvent('download'),
      tab.getByRole('link', { name: 'CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('evidence-access-grants-2026-01-01-2026-02-01.csv')
    await tab.getByRole('link', { name: 'All evidence queries' }).click()
    await tab.locator('h1', { hasText: 'Evidence' }).waitFor()
    expect(complaints).toEqual([])
  })

  test('have nothing that axe finds wrong, in light and dark, wide and narrow, and do not scroll sideways', async () => {
    const paths = { list, grants: `${list}/role-changes`, failures: `${list}/failed-authentications` }
    // Colors do not depend on the width, so each color scheme is tested at one width.
    const looks = [['light', 1_280] as const, ['dark', 360] as const]
    for (const [name, path] of Object.entries(paths))
      for (const [colorScheme, width] of looks) {
        const tab = await open(path, { colorScheme, viewport: { width, height: 800 } })
        await keep(`evidence-${name}-${width}-${colorScheme}.png`, () =>
          tab.screenshot({ fullPage: width > 500 }),
        )
        expect([name, colorScheme, await violationsOf(tab)]).toEqual([name, colorScheme, []])
        const { shown, needed } = await tab.evaluate(() => ({
          shown: document.documentElement.clientWidth,
          needed: document.documentElement.scrollWidth,
        }))
        expect([name, width, needed]).toEqual([name, width, shown])
        const overfull = await tab
          .locator('.evidence td')
          .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length)
        expect([name, width, overfull]).toEqual([name, width, 0])
        await tab.context().close()
      }
  })

  test('are printed black on white, without the form, with the head of the table on every page', async () => {
    const tab = await open(`${list}/role-changes`, { colorScheme: 'dark' })
    await tab.emulateMedia({ media: 'print' })
    const styles = await tab.evaluate(() => {
      const styleOf = (selector: string) => getComputedStyle(document.querySelector(selector) as Element)
      return {
        ground: styleOf('body').backgroundColor,
        form: styleOf('form').display,
        head: styleOf('.entries thead').display,
        table: styleOf('.entries').minWidth,
      }
    })
    expect(styles).toEqual({
      ground: 'rgb(255, 255, 255)',
      form: 'none',
      head: 'table-header-group',
      table: '0px',
    })
    const pdf = await tab.pdf({ preferCSSPageSize: true })
    await keep('evidence.pdf', () => Promise.resolve(pdf))
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
  })
})
