// These tests start a flood of logins from many addresses. The table stays within its limit, and the cost of
// a start does not grow.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Terminal, fromAddress, openTerminal } from '@manager/harness/cli-login.ts'
import { pendingOf, seedPending } from '../../../test/kit/pending-logins.ts'

let service: TestApp
let terminal: Terminal
const limit = 100_000
beforeAll(async () => {
  service = await startTestApp()
  terminal = await openTerminal(service)
  await seedPending(service, { network: 'flood ', count: limit, networks: 500 })
  await service.sql.query('analyze cli_logins')
})
afterAll(() => service?.close())

test('100,000 logins wait at most; the oldest make room for the new ones', async () => {
  const starts = await Promise.all(
    Array.from({ length: 300 }, (_, n) => terminal.start({}, fromAddress(`198.51.100.${n % 250}`))),
  )
  expect(new Set(starts.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await pendingOf(service)).toBeLessThanOrEqual(limit)
  expect(await pendingOf(service)).toBeGreaterThan(limit - 3_500)
  const codes = starts.map(({ body }) => body['user_code'])
  const { rows } = await service.sql.query<{ kept: number; dropped: number }>(
    `select count(*) filter (where user_code = any ($1))::int as kept,
       ${limit} - count(*) filter (where user_agent = 'seed')::int as dropped from cli_logins`,
    [codes],
  )
  expect(rows[0]?.kept).toBe(300)
  expect(rows[0]?.dropped).toBeGreaterThanOrEqual(300)
})

test('a start reads a bounded number of rows of the full table', async () => {
  const read = async (): Promise<number> => {
    // Database processes report their statistics only when they are idle.
    await service.sql.query('select pg_stat_clear_snapshot()')
    const { rows } = await service.sql.query<{ n: number }>(
      `select (sum(i.idx_tup_read) + max(t.seq_tup_read))::int as n
       from pg_stat_user_tables t join pg_stat_user_indexes i using (relid) where t.relname = 'cli_logins'`,
    )
    return rows[0]?.n ?? 0
  }
  const settled = async (): Promise<number> => {
    for (let last = await read(); ;) {
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      const next = await read()
      if (next === last) return next
      last = next
    }
  }
  const before = await settled()
  const starts = 50
  for (let n = 0; n < starts; n++) await terminal.login({}, fromAddress(`203.0.113.${n}`))
  const perStart = ((await settled()) - before) / starts
  process.stdout.write(`rows of cli_logins read per start: ${Math.round(perStart)}\n`)
  expect(perStart).toBeLessThan(2_500)
})
