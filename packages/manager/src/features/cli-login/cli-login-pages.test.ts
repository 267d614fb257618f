// These tests cover the page on which a person approves or denies a login: its content, its effects and its errors.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import {
  type Terminal,
  decide,
  formTokenOf,
  openPage,
  openTerminal,
  sendForm,
} from '@manager/harness/cli-login.ts'

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

const expire = (code: string): Promise<unknown> =>
  service.sql.query(`update cli_logins set expires_at = now() where user_code = $1`, [code])
const tokensOf = async (name: string) =>
  (await service.sql.query('select * from personal_access_tokens where name = $1', [name])).rows
const statusOf = async (code: string): Promise<string> =>
  (await service.sql.query('select status from cli_logins where user_code = $1', [code])).rows[0].status

describe('/cli/authorize', () => {
  test('[cli-login.page] shows code, name, address, program and age, and changes nothing', async () => {
    const { user_code, session_id } = await terminal.login(
      { token_name: 'build agent' },
      { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'manager-cli/1.2' },
    )
    await service.sql.query(
      `update cli_logins set created_at = now() - interval '3 minutes' where user_code = $1`,
      [user_code],
    )
    const page = await openPage(service, anna, user_code)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    for (const text of [
      user_code,
      'build agent',
      '203.0.113.9',
      'manager-cli/1.2',
      '3 minutes ago',
      'Anna (anna@example.com)',
    ])
      expect(page.text).toContain(text)
    expect(page.text).not.toContain(session_id)
    expect(await statusOf(user_code)).toBe('pending')
    expect((await terminal.poll(session_id)).body).toMatchObject({ status: 'authorization_pending' })
  })

  test('names the commands that list and revoke tokens, before and after the decision', async () => {
    const { user_code } = await terminal.login({ token_name: 'x; rm -rf /' })
    const page = await openPage(service, anna, user_code)
    const form = { code: user_code, form_token: formTokenOf(page), decision: 'approve', compared: 'yes' }
    const decided = await sendForm(service, anna, form)
    for (const { text } of [page, decided]) {
      expect(text).toContain('<code>svc tokens list</code>')
      // The terminal chose the token name, so commands that a person might paste must not contain it.
      expect(text).toContain('<code>svc tokens revoke &lt;name&gt;</code>')
    }
  })

  test('the code may be typed in lower case and without its hyphen; without one the page asks for it', async () => {
    const { user_code } = await terminal.login()
    for (const typed of [user_code.toLowerCase(), user_code.replace('-', ''), ` ${user_code} `])
      expect((await openPage(service, anna, typed)).status).toBe(200)
    const asks = await openPage(service, anna, '')
    expect([asks.status, asks.text.includes('name="code"')]).toEqual([200, true])
  })

  test('[cli-login.page-headers] pages have no script, a strict policy, and are not framed or kept', async () => {
    const { user_code } = await terminal.login()
    for (const code of [user_code, '', 'BBBB-BBBB']) {
      const { headers, text } = await openPage(service, anna, code)
      const nonce = /<style nonce="([^"]+)">/.exec(text)?.[1]
      expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      expect(text).not.toMatch(/<script|javascript:|\son\w+=/i)
    }
    const again = await openPage(service, anna, user_code)
    expect(again.headers.get('content-security-policy')).not.toBe(
      (await openPage(service, anna, user_code)).headers.get('content-security-policy'),
    )
  })

  test('[cli-login.decide] approval and denial are recorded with who decided, from where, and what came of it', async () => {
    const [approved, denied] = [await terminal.login({ token_name: 'noted' }), await terminal.login()]
    await decide(service, anna, approved.user_code, 'approve')
    await decide(service, anna, denied.user_code, 'deny')
    await terminal.poll(approved.session_id, {
      'x-forwarded-for': '198.51.100.7',
      'user-agent': 'manager-cli/1.2',
    })
    const trail = async (code: string) => {
      const { rows } = await service.sql.query(
        `select action, principal_id, ip_address, changes->'status' as status from audit_logs
         where entity_type = 'cliLogin' and entity_id = (select id::text from cli_logins where user_code = $1) order by seq`,
        [code],
      )
      return rows
    }
    expect(await trail(approved.user_code)).toEqual([
      {
        action: 'approve',
        principal_id: anna.id,
        ip_address: '127.0.0.1',
        status: { before: 'pending', after: 'approved' },
      },
      {
        action: 'deliver',
        principal_id: 'cli-login',
        ip_address: '198.51.100.7',
        status: { before: 'approved', after: 'fetched' },
      },
    ])
    expect(await trail(denied.user_code)).toEqual([
      {
        action: 'deny',
        principal_id: anna.id,
        ip_address: '127.0.0.1',
        status: { before: 'pending', after: 'denied' },
      },
    ])
    const [token] = await tokensOf('noted')
    expect([token.user_id, token.revoked]).toEqual([anna.id, false])
  })

  test('[cli-login.page-errors] an unknown code is 404, one that is over or was used is 410, as pages', async () => {
    const unknown = await openPage(service, anna, 'BBBB-BBBB')
    expect([unknown.status, unknown.text.includes('no login has this code')]).toEqual([404, true])
    const [late, used, refused] = [await terminal.login(), await terminal.login(), await terminal.login()]
    await expire(late.user_code)
    await decide(service, anna, used.user_code, 'approve')
    await decide(service, anna, refused.user_code, 'deny')
    for (const { user_code } of [late, used, refused]) {
      const page = await openPage(service, anna, user_code, { accept: '*/*' })
      expect([page.status, page.headers.get('content-type')]).toEqual([410, 'text/html; charset=utf-8'])
      expect(page.text).toContain('start the login again in your terminal')
    }
  })

  test('[cli-login.page-errors] a second decision is 410, and makes no second token', async () => {
    const { user_code } = await terminal.login({ token_name: 'twice' })
    const page = await openPage(service, anna, user_code)
    const form = { code: user_code, form_token: formTokenOf(page), decision: 'approve', compared: 'yes' }
    expect((await sendForm(service, anna, form)).status).toBe(200)
    expect((await sendForm(service, anna, form)).status).toBe(410)
    expect((await sendForm(service, anna, { ...form, decision: 'deny' })).status).toBe(410)
    expect(await tokensOf('twice')).toHaveLength(1)
  })

  test('[cli-login.page-without-identity] [cli-login.page-errors] without a user: a page to who accepts one, else the body of the gate', async () => {
    const text = 'no authenticated user: the proxy did not forward X-Token-Subject'
    const page = await openPage(service, null, 'BBBB-BBBB')
    expect([page.status, page.headers.get('content-type'), page.text.includes(text)]).toEqual([
      401,
      'text/html; charset=utf-8',
      true,
    ])
    expect(page.text).toContain('You are not signed in')
    const plain = await openPage(service, null, 'BBBB-BBBB', { accept: 'application/json' })
    expect([plain.status, JSON.parse(plain.text)]).toMatchObject([401, { error: text }])
    const outside = await openPage(service, anna, 'BBBB-BBBB', { 'x-proxy-auth': 'wrong' })
    expect([outside.status, JSON.parse(outside.text)]).toMatchObject([
      401,
      { error: expect.stringMatching(/^missing or invalid X-Proxy-Auth header/) as unknown },
    ])
  })
})
