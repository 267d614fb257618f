// These tests cover the limit for pending logins: a start is never rejected, because the oldest pending logins are
// deleted instead.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Terminal, decide, fromAddress, openTerminal } from '@manager/harness/cli-login.ts'
import { pendingOf, seedPending } from '../../../test/kit/pending-logins.ts'

let service: TestApp
let terminal: Terminal
const anna = { id: '0199a000-0000-7000-8000-00000000c301' }
beforeAll(async () => {
  service = await startTestApp()
  terminal = await openTerminal(service)
})
afterAll(() => service?.close())

/** Backdates the start of the login by 10 minutes. */
const age = (code: string): Promise<unknown> =>
  service.sql.query(`update cli_logins set created_at = now() - interval '10 minutes' where user_code = $1`, [
    code,
  ])

describe('an address', () => {
  test('[errors.rate-limits] may start any number of logins', async () => {
    const starts = await Promise.all(
      Array.from({ length: 150 }, () => terminal.start({}, fromAddress('203.0.113.5'))),
    )
    expect(new Set(starts.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await pendingOf(service, '203.0.113.5')).toBe(150)
  })

  test('keeps its 1,000 newest pending logins; decided ones and those of others stay', async () => {
    const [own, other] = ['203.0.113.6', '203.0.113.7']
    const [oldest, decided] = [
      await terminal.login({}, fromAddress(own)),
      await terminal.login({}, fromAddress(own)),
    ]
    await decide(service, anna, decided.user_code, 'deny')
    for (const { user_code } of [oldest, decided]) await age(user_code)
    await seedPending(service, { network: own, count: 998 })
    await seedPending(service, { network: other, count: 998 })
    expect((await terminal.poll(oldest.session_id)).status).toBe(200)
    const newest = await terminal.login({}, fromAddress(own))
    expect([await pendingOf(service, own), (await terminal.poll(oldest.session_id)).status]).toEqual([
      1_000, 200,
    ])
    await terminal.login({}, fromAddress(own))
    expect(await pendingOf(service, own)).toBe(1_000)
    expect((await terminal.poll(oldest.session_id)).status).toBe(404)
    expect((await terminal.poll(decided.session_id)).body).toEqual({ status: 'denied' })
    expect((await terminal.poll(newest.session_id)).status).toBe(200)
    expect(await pendingOf(service, other)).toBe(998)
  })

  test('is the /64 network of an IPv6 address', async () => {
    await seedPending(service, { network: '2001:db8:1:2::/64', count: 1_000 })
    await terminal.login({}, fromAddress('2001:db8:1:2:3:4:5:6'))
    expect(await pendingOf(service, '2001:db8:1:2::/64')).toBe(1_000)
  })

  test('with more than that, as after an upgrade, has no more soon', async () => {
    await seedPending(service, { network: '203.0.113.8', count: 1_025 })
    for (let n = 0; n < 3; n++) await terminal.login({}, fromAddress('203.0.113.8'))
    expect(await pendingOf(service, '203.0.113.8')).toBe(1_000)
  })
})

test('a pending login that somebody decides about is not dropped meanwhile', async () => {
  const [network, client] = ['203.0.113.9', await service.sql.connect()]
  const { user_code } = await terminal.login({}, fromAddress(network))
  await age(user_code)
  await seedPending(service, { network, count: 1_000 })
  try {
    await client.query('begin')
    await client.query('select 1 from cli_logins where user_code = $1 for update', [user_code])
    // The start does not wait for the locked row.
    expect((await terminal.start({}, fromAddress(network))).status).toBe(200)
    await client.query(`update cli_logins set status = 'denied' where user_code = $1`, [user_code])
    await client.query('commit')
  } finally {
    client.release()
  }
  await terminal.login({}, fromAddress(network))
  const { rows } = await service.sql.query('select status from cli_logins where user_code = $1', [user_code])
  expect(rows).toEqual([{ status: 'denied' }])
})
