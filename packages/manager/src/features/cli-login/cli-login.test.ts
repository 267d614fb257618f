// These tests cover a terminal login as each side sees it in each state. cli-login-attacks.test.ts covers attacks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Terminal, decide, openTerminal, postJson } from '@manager/harness/cli-login.ts'

let service: TestApp
let terminal: Terminal
const anna: Person = { id: '0199a000-0000-7000-8000-00000000c001', email: 'anna@example.com', name: 'Anna' }
beforeAll(async () => {
  service = await startTestApp({
    env: {
      SVC_PUBLIC_URL: 'https://manager.example.com/',
      SVC_CLI_LOGIN_POLLS_PER_CLIENT: '1000',
    },
  })
  terminal = await openTerminal(service)
})
afterAll(() => service?.close())

const waited = (code: string): Promise<unknown> =>
  service.sql.query(
    `update cli_logins set last_polled_at = last_polled_at - interval '1 hour' where user_code = $1`,
    [code],
  )
const expire = (code: string): Promise<unknown> =>
  service.sql.query(`update cli_logins set expires_at = now() where user_code = $1`, [code])
const runSchedule = async (): Promise<void> =>
  service.app.schedules.find(({ name }) => name === 'cli-logins')?.run()
const tokensOf = async (name: string) =>
  (await service.sql.query('select * from personal_access_tokens where name = $1', [name])).rows
const statusOf = async (code: string): Promise<string> =>
  (await service.sql.query('select status from cli_logins where user_code = $1', [code])).rows[0].status

describe('POST /api/cli/login/start', () => {
  test('[cli-login.start] [cli-login.start-values] answers what the terminal needs, with the proxy secret alone', async () => {
    const before = Date.now()
    const { status, headers, body } = await terminal.start()
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(Object.keys(body)).toEqual([
      'session_id',
      'verification_uri',
      'user_code',
      'interval',
      'expires_at',
    ])
    expect(body['interval']).toBe(5)
    const life = Date.parse(String(body['expires_at'])) - before
    expect(life).toBeGreaterThan(14 * 60_000)
    expect(life).toBeLessThan(16 * 60_000)
    const without = await postJson(service.url, '/api/cli/login/start', {}, { 'x-proxy-auth': 'wrong' })
    expect([without.status, without.body['error']]).toEqual([
      401,
      expect.stringMatching(/^missing or invalid X-Proxy-Auth header/),
    ])
  })

  test('[cli-login.user-code] the code is XXXX-XXXX of letters that are hard to mistake, and differs each time', async () => {
    const codes = await Promise.all(
      Array.from({ length: 50 }, async () => (await terminal.login()).user_code),
    )
    for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(new Set(codes).size).toBe(50)
    expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(20)
  })

  test('[cli-login.verification-uri] the address has the public URL and the code, and not the session', async () => {
    const { verification_uri, user_code, session_id } = await terminal.login()
    expect(verification_uri).toBe(`https://manager.example.com/cli/authorize?code=${user_code}`)
    expect(verification_uri).not.toContain(session_id)
    expect(session_id.length).toBeGreaterThanOrEqual(43)
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty text', ''],
    ['a word', 'key'],
    ['31 bytes', Buffer.alloc(31, 9).toString('base64')],
    ['33 bytes', Buffer.alloc(33, 9).toString('base64')],
    ['hex', Buffer.alloc(32, 9).toString('hex')],
    ['two alphabets', Buffer.alloc(32, 0xfb).toString('base64').replace('+', '-')],
    ['too much padding', `${Buffer.alloc(32, 9).toString('base64')}=`],
    ['bits that belong to no byte', `${'A'.repeat(42)}B=`],
    ['a number', 7],
    ['a point of low order: zero', Buffer.alloc(32).toString('base64')],
    ['a point of low order: one', Buffer.from([1, ...Buffer.alloc(31)]).toString('base64')],
    [
      'a point of order eight',
      Buffer.from('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800', 'hex').toString(
        'base64',
      ),
    ],
  ])('[cli-login.public-key] refuses %s', async (_name, key) => {
    const { status, body } = await terminal.start({ public_key: key })
    expect([status, body['error']]).toEqual([
      400,
      'public_key must be an X25519 public key (32 bytes) in base64 or base64url',
    ])
  })

  test('[cli-login.public-key] seals the token to the same key in every spelling', async () => {
    const { key } = terminal
    const url = key.replaceAll('+', '-').replaceAll('/', '_')
    for (const public_key of [key, key.slice(0, -1), url, url.slice(0, -1)]) {
      const { session_id, user_code } = await terminal.login({ public_key })
      await decide(service, anna, user_code, 'approve')
      const { body } = await terminal.poll(session_id)
      expect(terminal.open(body['sealed_token'])).toMatch(/^pat_/)
    }
  })

  test('refuses a token name that is absent, blank, too long or has control characters', async () => {
    const errorOf = async (name: unknown) => (await terminal.start({ token_name: name })).body['error']
    expect(await errorOf(undefined)).toBe('token_name is required')
    expect(await errorOf('  ')).toBe('token_name is required')
    expect(await errorOf('x'.repeat(101))).toBe('token_name must have at most 100 characters')
    expect(await errorOf('a\u0000b')).toBe(
      'token_name must not contain control characters or malformed Unicode',
    )
  })

  test('keeps neither the session nor anything that a reader of the table could poll with', async () => {
    const { session_id, user_code } = await terminal.login()
    const { rows } = await service.sql.query(
      'select to_jsonb(cli_logins)::text as row from cli_logins where user_code = $1',
      [user_code],
    )
    expect(rows[0].row).not.toContain(session_id)
    expect(rows[0].row).not.toContain(Buffer.from(session_id).toString('hex'))
  })
})

describe('POST /api/cli/login/poll', () => {
  test('[cli-login.poll-status] a login that waits is pending', async () => {
    const { session_id } = await terminal.login()
    expect(await terminal.poll(session_id)).toMatchObject({
      status: 200,
      body: { status: 'authorization_pending', interval: 5 },
    })
  })

  test('[cli-login.poll-early] a poll before the interval is told to slow down, by five seconds more each time', async () => {
    const { session_id, user_code } = await terminal.login()
    await terminal.poll(session_id)
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'slow_down', interval: 10 })
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'slow_down', interval: 15 })
    await waited(user_code)
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'authorization_pending', interval: 15 })
  })

  test('[cli-login.poll-approved] [cli-login.sealed-token] [cli-login.decide] after the approval it gets a token that works', async () => {
    const { session_id, user_code } = await terminal.login({ token_name: 'works' })
    expect((await decide(service, anna, user_code, 'approve')).status).toBe(200)
    const { status, headers, body } = await terminal.poll(session_id)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(Object.keys(body)).toEqual(['sealed_token', 'token_name', 'expires_at'])
    expect(body['token_name']).toBe('works')
    const token = terminal.open(body['sealed_token'])
    const response = await fetch(`${service.url}/query`, {
      method: 'POST',
      headers: {
        'x-proxy-auth': proxySecret,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ query: '{ me { id } }' }),
    })
    expect(await response.json()).toEqual({ data: { me: { id: anna.id } } })
    const [row] = await tokensOf('works')
    expect(body['expires_at']).toBe(row.expires_at.toISOString())
  })

  test('[cli-login.poll-once] the token is handed out once; after that the login polls as expired', async () => {
    const { session_id, user_code } = await terminal.login()
    await decide(service, anna, user_code, 'approve')
    expect((await terminal.poll(session_id)).body).toHaveProperty('sealed_token')
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'expired' })
    await expect.poll(() => statusOf(user_code)).toBe('consumed')
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'expired' })
  })

  test('[cli-login.poll-status] a login that was denied stays denied, also after its end', async () => {
    const { session_id, user_code } = await terminal.login({ token_name: 'denied' })
    expect((await decide(service, anna, user_code, 'deny')).text).toContain('<h1>Denied</h1>')
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'denied' })
    await expire(user_code)
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'denied' })
    expect(await tokensOf('denied')).toEqual([])
  })

  test('[cli-login.poll-status] a login that is over is expired, whether somebody approved it or not', async () => {
    const [waiting, approved] = [await terminal.login(), await terminal.login()]
    await decide(service, anna, approved.user_code, 'approve')
    for (const { session_id, user_code } of [waiting, approved]) {
      await expire(user_code)
      expect((await terminal.poll(session_id)).body).toEqual({ status: 'expired' })
    }
  })

  test('[cli-login.poll-unknown] an unknown session is 404', async () => {
    for (const id of ['nobody', 'A'.repeat(43)])
      expect(await terminal.poll(id)).toMatchObject({
        status: 404,
        body: { error: 'login session not found' },
      })
    expect((await postJson(service.url, '/api/cli/login/poll', {})).body['error']).toBe(
      'session_id is required',
    )
  })

  test('a token that is revoked before it was fetched is not handed out', async () => {
    const { session_id, user_code } = await terminal.login({ token_name: 'regretted' })
    await decide(service, anna, user_code, 'approve')
    await service.sql.query(`update personal_access_tokens set revoked = true where name = 'regretted'`)
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'expired' })
  })
})

describe('what is never fetched', () => {
  test('[cli-login.pat-life] a token lives 90 days; one that is never fetched is revoked when the login is over', async () => {
    const { user_code } = await terminal.login({ token_name: 'forgotten' })
    await decide(service, anna, user_code, 'approve')
    const [token] = await tokensOf('forgotten')
    const days = (token.expires_at.getTime() - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(89.9)
    expect(days).toBeLessThanOrEqual(90)
    await runSchedule()
    expect((await tokensOf('forgotten'))[0].revoked).toBe(false)
    await expire(user_code)
    await runSchedule()
    expect((await tokensOf('forgotten'))[0].revoked).toBe(true)
    expect(await statusOf(user_code)).toBe('undelivered')
    const { rows } = await service.sql.query(
      `select action, principal_type, principal_id from audit_logs where entity_id = $1 order by seq`,
      [token.id],
    )
    expect(rows).toEqual([
      { action: 'create', principal_type: 'user', principal_id: anna.id },
      { action: 'revoke', principal_type: 'system', principal_id: 'cli-login' },
    ])
  })

  test('a token whose response was never known to be sent is revoked after a minute', async () => {
    const { session_id, user_code } = await terminal.login({ token_name: 'lost' })
    await decide(service, anna, user_code, 'approve')
    await terminal.poll(session_id)
    await expect.poll(() => statusOf(user_code)).toBe('consumed')
    // Simulates a process that was killed before it could record the delivery.
    const age = (seconds: number) =>
      service.sql.query(
        `update cli_logins set status = 'fetched', fetched_at = now() - make_interval(secs => $2) where user_code = $1`,
        [user_code, seconds],
      )
    await age(30)
    await runSchedule()
    expect((await tokensOf('lost'))[0].revoked).toBe(false)
    await age(61)
    await runSchedule()
    expect((await tokensOf('lost'))[0].revoked).toBe(true)
  })

  test('logins are deleted an hour after their end, and not before their token is settled', async () => {
    const [old, open, young] = [
      await terminal.login(),
      await terminal.login({ token_name: 'open' }),
      await terminal.login(),
    ]
    await decide(service, anna, open.user_code, 'approve')
    for (const [{ user_code }, hours] of [
      [old, 61],
      [open, 61],
      [young, 59],
    ] as const)
      await service.sql.query(
        `update cli_logins set expires_at = now() - make_interval(mins => $2) where user_code = $1`,
        [user_code, hours],
      )
    await runSchedule()
    expect((await tokensOf('open'))[0].revoked).toBe(true)
    expect((await terminal.poll(old.session_id)).status).toBe(404)
    expect((await terminal.poll(young.session_id)).body).toEqual({ status: 'expired' })
  })
})
