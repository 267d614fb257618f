// These tests run two operations on a login concurrently: exactly one takes effect, and no token is left over.
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf, proxySecret } from '@manager/harness/callers.ts'
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
const anna: Person = { id: '0199a000-0000-7000-8000-00000000c201', email: 'anna@example.com', name: 'Anna' }
beforeAll(async () => {
  const raised = {
    SVC_CLI_LOGIN_POLLS_PER_CLIENT: '10000',
    SVC_CLI_LOGIN_POLLS_PER_LOGIN: '10000',
  }
  service = await startTestApp({ env: raised })
  terminal = await openTerminal(service)
})
afterAll(() => service?.close())

const tokensOf = async (name: string): Promise<{ id: string; revoked: boolean }[]> =>
  (await service.sql.query('select id, revoked from personal_access_tokens where name = $1', [name])).rows
const begin = async (name: string) => {
  const started = await terminal.login({ token_name: name })
  const form_token = formTokenOf(await openPage(service, anna, started.user_code))
  const send = (decision: string) =>
    sendForm(service, anna, { code: started.user_code, form_token, decision, compared: 'yes' })
  return { ...started, send }
}
/** Locks the row until another transaction waits for it, then makes the change and commits. */
const whileRowLocked = async (
  code: string,
  change: (client: PoolClient) => Promise<unknown>,
  act: () => Promise<unknown>,
): Promise<unknown> => {
  const client = await service.sql.connect()
  try {
    await client.query('begin')
    await client.query(`select 1 from cli_logins where user_code = $1 for update`, [code])
    const acting = act()
    await expect.poll(() => waitsFor('cli_logins'), { timeout: 30_000 }).toBe(true)
    await change(client)
    await client.query('commit')
    return await acting
  } finally {
    client.release()
  }
}

/** Returns whether a session that runs a statement like this waits for a lock. */
const waitsFor = async (text: string): Promise<boolean> => {
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like $1`
  return (await service.sql.query(waiting, [`%${text}%`])).rows.length > 0
}

describe('an approval', () => {
  test('that races denials: one decision counts', async () => {
    const { user_code, send } = await begin('race')
    const answers = await Promise.all(['approve', 'deny', 'approve', 'deny', 'approve'].map(send))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410, 410, 410])
    const { rows } = await service.sql.query('select status from cli_logins where user_code = $1', [
      user_code,
    ])
    expect(await tokensOf('race')).toHaveLength(rows[0].status === 'approved' ? 1 : 0)
    const { rows: trail } = await service.sql.query(
      `select action from audit_logs where entity_type = 'cliLogin' and description like '%race%'`,
    )
    expect(trail).toHaveLength(1)
  })

  test.each([
    ['is denied meanwhile', `update cli_logins set status = 'denied' where user_code = $1`],
    ['is over meanwhile', `update cli_logins set expires_at = now() where user_code = $1`],
    [
      'ends while it waits for its row',
      `select pg_sleep(greatest(0.05, extract(epoch from expires_at - clock_timestamp()) + 0.05)) from cli_logins where user_code = $1`,
    ],
  ])('of a login that %s makes no token', async (name, change) => {
    const { user_code, session_id, send } = await begin(name)
    if (change.includes('pg_sleep'))
      await service.sql.query(
        `update cli_logins set expires_at = now() + interval '2 seconds' where user_code = $1`,
        [user_code],
      )
    const answer = (await whileRowLocked(
      user_code,
      (client) => client.query(change, [user_code]),
      () => send('approve'),
    )) as { status: number }
    expect(answer.status).toBe(410)
    expect(await tokensOf(name)).toEqual([])
    expect((await terminal.poll(session_id)).body).toEqual({
      status: name.startsWith('is denied') ? 'denied' : 'expired',
    })
  })

  test('by a personal access token that is revoked meanwhile makes no token', async () => {
    const { data } = await service.query(
      anna,
      'mutation { createPersonalAccessToken(name: "first") { token personalAccessToken { id } } }',
    )
    const { token, personalAccessToken } = (
      data as { createPersonalAccessToken: { token: string; personalAccessToken: { id: string } } }
    ).createPersonalAccessToken
    const { user_code } = await terminal.login({ token_name: 'second' })
    const form_token = formTokenOf(await openPage(service, anna, user_code))
    const client = await service.sql.connect()
    await client.query('begin')
    await client.query('update personal_access_tokens set revoked = true where id = $1', [
      personalAccessToken.id,
    ])
    const { 'x-token-subject': _, ...rest } = headersOf(anna)
    const sending = fetch(`${service.url}/cli/authorize`, {
      method: 'POST',
      headers: { ...rest, authorization: `Bearer ${token}` },
      body: new URLSearchParams({ code: user_code, form_token, decision: 'approve', compared: 'yes' }),
    })
    await expect.poll(() => waitsFor('personal_access_tokens'), { timeout: 30_000 }).toBe(true)
    await client.query('commit')
    client.release()
    expect((await sending).status).toBe(401)
    expect(await tokensOf('second')).toEqual([])
  })
})

describe('[cli-login.poll-once] polls', () => {
  test('of 100 at once after an approval, one gets the token', async () => {
    const { session_id, user_code } = await begin('many')
    await decide(service, anna, user_code, 'approve')
    const answers = await Promise.all(Array.from({ length: 100 }, () => terminal.poll(session_id)))
    const others = answers.filter(({ body }) => !('sealed_token' in body))
    expect(others).toHaveLength(99)
    // Polls that run concurrently with the successful poll must poll again.
    for (const { body } of others) expect(['expired', 'authorization_pending']).toContain(body['status'])
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'expired' })
  })

  test('that race the end of the login: the token is either handed out or revoked', async () => {
    const schedule = service.app.schedules.find(({ name }) => name === 'cli-logins')
    for (let round = 0; round < 10; round++) {
      const { session_id, user_code } = await begin(`end ${round}`)
      await decide(service, anna, user_code, 'approve')
      const [, answer] = await Promise.all([
        service.sql
          .query('update cli_logins set expires_at = now() where user_code = $1', [user_code])
          .then(() => schedule?.run()),
        terminal.poll(session_id),
      ])
      await schedule?.run()
      const [token] = await tokensOf(`end ${round}`)
      expect(token?.revoked).toBe(!('sealed_token' in answer.body))
    }
  })

  test('that meet the approval come again, and then get the token', async () => {
    const { session_id, send } = await begin('met')
    const client = await service.sql.connect()
    try {
      // The approval holds the lock on the login and waits for the head row of the audit chain.
      await client.query('begin')
      await client.query('select 1 from audit_chains for update')
      const approving = send('approve')
      await expect.poll(() => waitsFor('audit_chains'), { timeout: 30_000 }).toBe(true)
      expect((await terminal.poll(session_id)).body).toEqual({ status: 'authorization_pending', interval: 5 })
      await client.query('commit')
      expect((await approving).status).toBe(200)
    } finally {
      client.release()
    }
    expect((await terminal.poll(session_id)).body).toHaveProperty('sealed_token')
  })

  test('by a terminal that leaves before the response: the token is revoked at once', async () => {
    const { session_id, user_code } = await begin('left')
    await decide(service, anna, user_code, 'approve')
    const leaving = new AbortController()
    const client = await service.sql.connect()
    try {
      // The poll has removed the token from the login and waits for the head row of the audit chain.
      await client.query('begin')
      await client.query('select 1 from audit_chains for update')
      const polling = fetch(`${service.url}/api/cli/login/poll`, {
        method: 'POST',
        signal: leaving.signal,
        headers: { 'x-proxy-auth': proxySecret, 'content-type': 'application/json' },
        body: JSON.stringify({ session_id }),
      }).catch(() => null)
      await expect.poll(() => waitsFor('audit_chains'), { timeout: 30_000 }).toBe(true)
      leaving.abort()
      const hasLeft = (): boolean =>
        service.logLines.some(({ route, aborted }) => aborted === true && route === '/api/cli/login/poll')
      await expect.poll(hasLeft).toBe(true)
      await client.query('commit')
      await polling
    } finally {
      client.release()
    }
    await expect.poll(async () => (await tokensOf('left'))[0]?.revoked).toBe(true)
    expect((await terminal.poll(session_id)).body).toEqual({ status: 'expired' })
  })

  test('a deleted token and a login that is given up do not wait for each other', async () => {
    const { user_code } = await begin('deleted')
    await decide(service, anna, user_code, 'approve')
    const [token] = await tokensOf('deleted')
    await service.sql.query('update cli_logins set expires_at = now() where user_code = $1', [user_code])
    const schedule = service.app.schedules.find(({ name }) => name === 'cli-logins')
    const [deleted] = await Promise.all([
      service.query(anna, `mutation { deletePersonalAccessToken(id: "${token?.id}") }`),
      schedule?.run(),
    ])
    expect(deleted).toMatchObject({ data: { deletePersonalAccessToken: true } })
  })
})
