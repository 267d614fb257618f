// The call log with a million calls: the first page is visible within a second, any hour of the month is two presses away,
// and calls that arrive never move the row that a person reads.
import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, seedCall, seedCaller, seedCalls } from '../../manager/test/kit/esb-calls.ts'
import { step } from './kit/focus.ts'
import { measureFirstRow } from './kit/large-list.ts'
import { useConsole, waitForPage } from './kit/scene.ts'

const scene = useConsole()
const path = '/p/main/calls'
const callers = 4
const callsPerCaller = 250_000
const dayMs = 86_400_000
/** The calls of a caller are spread over 30 days, or over the time for which the log has partitions. */
const everyMs = (30 * dayMs) / callsPerCaller
const newest = 'r-newest'

let busy: Caller
beforeAll(async () => {
  const { sql } = scene.service
  for (let index = 0; index < callers; index++) {
    busy = await seedCaller(sql, scene.project)
    await seedCalls(sql, busy, { count: callsPerCaller, everyMs, until: new Date(Date.now() - 60_000) })
  }
  // Some of the calls failed, and calls of the gateway have request ids.
  await sql.query(
    `update esb_audit_logs set request_id = id::text,
       response_status = case when get_byte(uuid_send(id), 3) < 8 then 502 else response_status end,
       failure = case when get_byte(uuid_send(id), 3) < 8 then 'the upstream timed out' end`,
  )
  await seedCall(sql, busy, { requestId: newest })
  await sql.query('vacuum analyze esb_audit_logs')
}, 600_000)

const rowsOf = (page: Page) => page.getByRole('grid', { name: 'Calls' }).locator('.table-row')
const findMedian = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Infinity

describe('a log of a million calls', () => {
  test('shows its first page within a second, from an address and from a link', async () => {
    const { rows } = await scene.service.sql.query('select count(*)::int as count from esb_audit_logs')
    expect(rows).toEqual([{ count: callers * callsPerCaller + 1 }])
    const times = []
    for (let run = 0; run < 7; run++)
      times.push(
        await measureFirstRow(await scene.visit(scene.admin), { path, link: /^Calls/, text: newest }),
      )
    const [address, link] = [times.map((run) => run.address), times.map((run) => run.link)]
    process.stdout.write(
      `first of a million calls: address ${address.join(' ')}, link ${link.join(' ')} ms\n`,
    )
    expect(findMedian(address)).toBeLessThan(1_000)
    expect(findMedian(link)).toBeLessThan(1_000)
  })

  test('shows any hour of the month after two presses', async () => {
    const { page, open } = await scene.visit(scene.admin)
    await open(path)
    await waitForPage(page)
    const times: number[] = []
    for (const [daysAgo, hour] of [
      [1, 0],
      [9, 23],
      [17, 12],
      [28, 5],
    ] as const) {
      const from = new Date(Date.now() - daysAgo * dayMs)
      from.setHours(hour, 0, 0, 0)
      await page
        .getByRole('listbox', { name: 'Calls by day' })
        .getByRole('option')
        .nth(-1 - daysAgo)
        .click()
      const bar = page.getByRole('listbox', { name: 'Calls by hour' }).getByRole('option').nth(hour)
      await bar.waitFor()
      const startedAt = performance.now()
      await bar.click()
      const readTimes = (): Promise<(string | null)[]> =>
        rowsOf(page)
          .locator('time')
          .evaluateAll((list) => list.map((time) => time.getAttribute('datetime')))
      await expect
        .poll(
          async () => {
            const shown = (await readTimes()).map((text) => Date.parse(text ?? ''))
            return shown.length > 5 && shown.every((time) => time >= +from && time < +from + 3_600_000)
          },
          { interval: 20, timeout: 20_000 },
        )
        .toBe(true)
      times.push(Math.round(performance.now() - startedAt))
      await page.getByRole('button', { name: 'Back to the month' }).click()
    }
    process.stdout.write(`an hour of a million calls: ${times.join(' ')} ms\n`)
    expect(findMedian(times)).toBeLessThan(2_000)
  })
})

describe('calls that arrive while a person reads', () => {
  test('do not move the row under the pointer, even if they are 1,000', async () => {
    const { page, open } = await scene.visit(scene.admin)
    await page.clock.install()
    await open(path)
    await waitForPage(page)
    const row = rowsOf(page).nth(4)
    await row.hover()
    const before = { box: await row.boundingBox(), text: await row.innerText() }
    for (let turn = 1; turn <= 10; turn++)
      await step(page, `batch ${turn}`, async () => {
        await seedCalls(scene.service.sql, busy, { count: 100, everyMs: 1 })
        const answer = page.waitForResponse((response) =>
          (response.request().postData() ?? '').startsWith('{"query":"query callList'),
        )
        await page.clock.fastForward(6_000)
        await answer
        await page.getByRole('button', { name: /^\d+\+? new$/ }).waitFor()
        expect({ box: await row.boundingBox(), text: await row.innerText() }).toEqual(before)
      })
    await page.getByRole('button', { name: /new$/ }).click()
    await expect.poll(() => row.innerText()).not.toBe(before.text)
  })

  test('cost no request in a hidden tab, and appear at once when it is visible again', async () => {
    const { page, open } = await scene.visit(scene.admin)
    await page.clock.install()
    await open(path)
    await waitForPage(page)
    const requests: string[] = []
    page.on('request', (request: Request) => requests.push(request.postData() ?? request.url()))
    const show = (state: 'hidden' | 'visible'): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value })
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value === 'hidden' })
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
      }, state)
    await show('hidden')
    requests.length = 0
    await page.clock.runFor(600_000)
    expect(requests).toEqual([])
    await seedCall(scene.service.sql, busy, { requestId: 'r-hidden' })
    await show('visible')
    await rowsOf(page).filter({ hasText: 'r-hidden' }).waitFor()
    expect(requests.filter((text) => text.includes('query callList'))).toHaveLength(1)
  })
})
