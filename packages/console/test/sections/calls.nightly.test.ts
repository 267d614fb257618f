// The call log: calls with their results, filters in the address, the details of a call and why it failed, and calls that
// arrive while a person reads.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { type Caller, seedCall, seedCaller } from '../../../manager/test/kit/esb-calls.ts'
import { seedFailedCall } from '../kit/seed-calls.ts'
import { type View, useConsole, waitForPage } from '../kit/scene.ts'

const scene = useConsole()
const path = '/p/main/calls'
const minuteMs = 60_000
const ago = (minutes: number): string => new Date(Date.now() - minutes * minuteMs).toISOString()

let dora: Person
let orders: Caller
let lateKey: string
beforeAll(async () => {
  dora = await scene.member('dora', 'developer')
  const { sql } = scene.service
  orders = await seedCaller(sql, scene.project)
  const stock = await seedCaller(sql, scene.project)
  await sql.query("update endpoints set name = 'Orders', log_level = 'FULL' where id = $1", [
    orders.endpointId,
  ])
  await sql.query("update endpoints set name = 'Stock' where id = $1", [stock.endpointId])
  await sql.query("update machine_users set name = 'shop' where id = $1", [orders.machineUserId])
  await seedCall(sql, stock, { createdAt: ago(10), requestId: 'r-stock', method: 'GET', path: '/stock' })
  await seedCall(sql, orders, { createdAt: ago(5), requestId: 'r-gone', responseStatus: 404 })
  lateKey = await seedFailedCall(sql, orders, { createdAt: ago(3) })
  await seedCall(sql, orders, { createdAt: ago(2), requestId: 'r-late', responseStatus: 201 })
})

async function open(address = path, view: View & { hasClock?: boolean } = {}) {
  const visit = await scene.visit(dora, view)
  if (view.hasClock === true) await visit.page.clock.install()
  await visit.open(address)
  await waitForPage(visit.page)
  return visit
}

const rowsOf = (page: Page): Locator => page.getByRole('grid', { name: 'Calls' }).locator('.table-row')
const panelOf = (page: Page): Locator => page.getByRole('complementary', { name: 'Call' })
/** Waits until the list shows calls with these results, newest first. */
const expectResults = async (page: Page, results: readonly string[]): Promise<void> => {
  await expect
    .poll(
      () =>
        rowsOf(page)
          .locator('.badge[data-tone="ok"], .badge[data-tone="warn"], .badge[data-tone="danger"]')
          .allTextContents(),
      {
        timeout: 20_000,
      },
    )
    .toEqual(results)
}
const searchOf = (page: Page): Record<string, string> => Object.fromEntries(new URL(page.url()).searchParams)

describe('the list', () => {
  test('shows who called what, with the result and the reason', async () => {
    const { page, complaints } = await open()
    await expectResults(page, ['201', '502', '404', '200'])
    const late = rowsOf(page).nth(1)
    expect(await late.innerText()).toContain('30,006 ms')
    expect(await late.innerText()).toContain('Orders')
    expect(await late.innerText()).toContain('shop')
    expect(await late.innerText()).toContain('The partner took too long')
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('is filtered by status, endpoint and request id, which the address keeps', async () => {
    const { page } = await open()
    await expectResults(page, ['201', '502', '404', '200'])
    await page.getByRole('button', { name: /^Status/ }).click()
    await page.getByRole('option', { name: 'failed in the gateway' }).click()
    await expectResults(page, ['502'])
    expect(searchOf(page)).toMatchObject({ status: 'failed' })
    await page.reload()
    await expectResults(page, ['502'])
    await page.getByRole('button', { name: /^Status/ }).click()
    await page.getByRole('option', { name: 'any' }).click()
    await page.getByRole('button', { name: /^Endpoint/ }).click()
    await page.getByRole('option', { name: /^Stock/ }).click()
    await expectResults(page, ['200'])
    await open(`${path}?q=r-late`).then((other) => expectResults(other.page, ['201', '502']))
    await open(`${path}?q=/stock`).then((other) => expectResults(other.page, ['200']))
    await open(`${path}?q=/stock&range=7d`).then((other) =>
      other.page.getByRole('heading', { name: 'The time is too long to search a text' }).waitFor(),
    )
  })

  test('is saved as CSV', async () => {
    const { page } = await open(`${path}?status=failed`)
    await expectResults(page, ['502'])
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const download = await saved
    expect(download.suggestedFilename()).toBe('main-calls.csv')
    const chunks: Buffer[] = []
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer)
    const lines = Buffer.concat(chunks).toString('utf8').trim().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('r-late,502,30006,the upstream timed out,POST,Orders')
  })
})

describe('a call', () => {
  test('is opened by its address and explains why it failed', async () => {
    const { page, complaints } = await open(`${path}?open=${lateKey}`)
    const panel = panelOf(page)
    await panel.getByRole('heading', { name: 'POST Orders' }).waitFor()
    const why = panel.getByRole('alert')
    expect(await why.innerText()).toContain('The partner took too long')
    expect(await why.innerText()).toContain('The partner may have received the call')
    expect(await why.innerText()).toContain('the upstream timed out')
    await panel.getByText('[REDACTED]', { exact: true }).waitFor()
    await panel.getByText('{"id": "o-4", "card": "[REDACTED]"}').waitFor()
    await panel.getByText('The partner sent no response.').waitFor()
    expect(await panel.locator('.call-step[data-state="failed"]').innerText()).toContain(
      'Call to the partner',
    )
    // The caller repeated the call with the same request id.
    const attempts = panel.getByRole('region', { name: 'Calls with this request id' })
    expect(await attempts.locator('.badge').allTextContents()).toEqual(['201', '502'])
    expect(await violationsOf(page)).toEqual([])
    await panel.getByRole('button', { name: 'Close' }).click()
    await panel.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  test('opens from its row, and an address of another call says that it does not exist', async () => {
    const { page } = await open()
    await expectResults(page, ['201', '502', '404', '200'])
    await rowsOf(page).nth(2).click()
    await panelOf(page).getByText('The partner rejected the call').waitFor()
    const [time = ''] = lateKey.split('-')
    const other = await open(`${path}?open=${time}-${orders.endpointId}`)
    await panelOf(other.page).getByRole('heading', { name: 'No such call' }).waitFor()
  })
})

test('new calls wait while the pointer is in the list', async () => {
  const { page } = await open(`${path}?status=2xx`, { hasClock: true })
  await expectResults(page, ['201', '200'])
  await rowsOf(page).nth(1).hover()
  const stays = await rowsOf(page).nth(1).boundingBox()
  await seedCall(scene.service.sql, orders, { requestId: 'r-new', responseStatus: 202 })
  await page.clock.fastForward(6_000)
  const news = page.getByRole('button', { name: '1 new' })
  await news.waitFor()
  expect(await rowsOf(page).nth(1).boundingBox()).toEqual(stays)
  expect(await violationsOf(page)).toEqual([])
  await news.click()
  await expectResults(page, ['202', '201', '200'])
  expect(await news.count()).toBe(0)
})

test('any hour of the month is two presses away', async () => {
  const day = new Date()
  day.setDate(day.getDate() - 12)
  day.setHours(14, 30, 0, 0)
  await seedCall(scene.service.sql, orders, { createdAt: day.toISOString(), responseStatus: 418 })
  const { page } = await open()
  await page.getByRole('listbox', { name: 'Calls by day' }).getByRole('option').nth(-13).click()
  await page.getByRole('listbox', { name: 'Calls by hour' }).getByRole('option').nth(14).click()
  await expectResults(page, ['418'])
  const { from = '', to = '' } = searchOf(page)
  expect([from, to].map((text) => new Date(text).getHours())).toEqual([14, 15])
})

test('speaks German, also at 360 px', async () => {
  const { page } = await open(`${path}?open=${lateKey}`, { locale: 'de-DE', width: 360, theme: 'dark' })
  await page.getByText('Der Partner hat zu lange gebraucht').waitFor()
  expect(await violationsOf(page)).toEqual([])
})
