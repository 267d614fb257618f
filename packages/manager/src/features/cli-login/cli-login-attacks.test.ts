// These tests cover attacks by someone other than the person at the terminal: cross-site forms, stolen form
// tokens, HTML in user input, and guessed codes.
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import {
  type Terminal,
  formTokenOf,
  fromAddress,
  openPage,
  openTerminal,
  sendForm,
} from '@manager/harness/cli-login.ts'

let service: TestApp
let terminal: Terminal
const anna: Person = { id: '0199a000-0000-7000-8000-00000000c101', email: 'anna@example.com', name: 'Anna' }
const ben: Person = { id: '0199a000-0000-7000-8000-00000000c102', email: 'ben@example.com', name: 'Ben' }
beforeAll(async () => {
  service = await startTestApp()
  terminal = await openTerminal(service)
})
afterAll(() => service?.close())

const statusOf = async (code: string): Promise<string> =>
  (await service.sql.query('select status from cli_logins where user_code = $1', [code])).rows[0].status
/** Starts a login. Returns its code and the form that the person was shown. */
const begin = async (person: Person) => {
  const { user_code: code } = await terminal.login()
  const page = await openPage(service, person, code)
  return { code, form: { code, form_token: formTokenOf(page), decision: 'approve', compared: 'yes' } }
}

describe('[cli-login.csrf] a form', () => {
  const host = (): string => new URL(service.url).host
  test.each<[string, Record<string, string>]>([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of a neighbouring host', { 'sec-fetch-site': 'same-site' }],
    ['of another origin', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
    ['of another origin, said to be of this one', { origin: 'https://evil.example' }],
    ['of no origin, from a browser that says no more', { 'sec-fetch-site': '', origin: 'null' }],
    ['of no origin, from another site', { 'sec-fetch-site': 'cross-site', origin: 'null' }],
    ['whose origin names another port', { 'sec-fetch-site': '', origin: 'http://127.0.0.1:1' }],
    ['with a word we do not know', { 'sec-fetch-site': 'Same-Origin, none' }],
  ])('%s is refused, also with the right proof', async (_name, headers) => {
    const { code, form } = await begin(anna)
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
    const response = await fetch(`${service.url}/cli/authorize`, {
      method: 'POST',
      headers: { ...headersOf(anna), ...given },
      body: new URLSearchParams(form),
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    expect(await statusOf(code)).toBe('pending')
  })

  test.each<[string, () => Record<string, string>]>([
    ['of this origin', () => ({ origin: `http://${host()}` })],
    ['of a page without a referrer', () => ({ origin: 'null', 'sec-fetch-site': 'same-origin' })],
    [
      'of the host that the proxy forwards',
      () => ({ origin: 'https://manager.example', 'x-forwarded-host': 'manager.example' }),
    ],
  ])('%s is taken', async (_name, headers) => {
    const { code, form } = await begin(anna)
    expect((await sendForm(service, anna, form, headers())).status).toBe(200)
    expect(await statusOf(code)).toBe('approved')
  })

  test('with the proof of another person, of another login, or none, is refused', async () => {
    const [mine, other] = [await begin(anna), await begin(anna)]
    const bens = formTokenOf(await openPage(service, ben, mine.code))
    const answers = [
      await sendForm(service, anna, { ...mine.form, form_token: bens }),
      await sendForm(service, ben, mine.form),
      await sendForm(service, anna, { ...mine.form, form_token: other.form.form_token }),
      await sendForm(service, anna, { ...mine.form, form_token: 'A'.repeat(43) }),
      await sendForm(service, anna, { ...mine.form, form_token: `${mine.form.form_token}=` }),
      await sendForm(service, anna, { code: mine.code, decision: 'approve', compared: 'yes' }),
      await sendForm(service, anna, { ...mine.form, compared: '' }),
      await sendForm(service, anna, { ...mine.form, decision: 'maybe' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 400, 400, 400])
    for (const { headers } of answers) expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await statusOf(mine.code)).toBe('pending')
  })

  test('of another type, or with a field twice, is refused', async () => {
    const { code, form } = await begin(anna)
    const send = async (type: string, body: string): Promise<number> => {
      const headers = { ...headersOf(anna), 'content-type': type }
      return (await fetch(`${service.url}/cli/authorize`, { method: 'POST', headers, body })).status
    }
    const encoded = new URLSearchParams(form).toString()
    expect(await send('application/json', JSON.stringify(form))).toBe(415)
    expect(await send('text/plain', encoded)).toBe(415)
    expect(await send('multipart/form-data; boundary=x', encoded)).toBe(415)
    expect(await send('application/x-www-form-urlencoded; charset=utf-7', encoded)).toBe(415)
    expect(await send('application/x-www-form-urlencoded', `${encoded}&decision=deny`)).toBe(400)
    expect(await send('application/x-www-form-urlencoded', `${'a=1&'.repeat(100)}${encoded}`)).toBe(400)
    expect(await send('application/x-www-form-urlencoded', 'x'.repeat(10_000))).toBe(413)
    expect(await statusOf(code)).toBe('pending')
  })

  test('is never sent by opening an address', async () => {
    const { code, form } = await begin(anna)
    const query = new URLSearchParams(form).toString()
    const response = await fetch(`${service.url}/cli/authorize?${query}`, { headers: headersOf(anna) })
    expect([response.status, await statusOf(code)]).toEqual([200, 'pending'])
  })
})

describe('texts of a terminal', () => {
  type Node = DefaultTreeAdapterTypes.Node
  /** Returns every element of a page with the names of its attributes. */
  const shapeOf = (text: string): string[] => {
    const found: string[] = []
    const walk = (node: Node): void => {
      if ('tagName' in node) found.push([node.tagName, ...node.attrs.map(({ name }) => name)].join(' '))
      if ('childNodes' in node) node.childNodes.forEach(walk)
    }
    walk(parse(text))
    return found
  }
  const hostile = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)' autofocus='",
    '</title></style></dd></main><script>alert(1)</script>',
    '<!--<script>-->',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '<svg/onload=alert(1)>',
    '${alert(1)}{{alert(1)}}',
    '<form action=https://evil.example><button>Approve</button>',
    '<base href=//evil.example>',
    '<meta http-equiv=refresh content=0;url=//evil.example>',
    '\u202egnp.exe',
  ]

  test.each(hostile)('stay text on every page: %s', async (text) => {
    const plain = await terminal.login({ token_name: 'plain' }, { 'user-agent': 'plain' })
    const { user_code } = await terminal.login(
      { token_name: text },
      { 'user-agent': Buffer.from(text).toString('latin1') },
    )
    const person = { ...anna, name: 'Anna' }
    const expected = shapeOf((await openPage(service, person, plain.user_code)).text)
    const page = await openPage(service, person, user_code)
    expect(shapeOf(page.text)).toEqual(expected)
    expect(expected).not.toContain('script')
    const decided = await sendForm(service, person, {
      code: user_code,
      form_token: formTokenOf(page),
      decision: 'approve',
      compared: 'yes',
    })
    expect([
      decided.status,
      shapeOf(decided.text).filter((one) => /script|img|svg|base|form/.test(one)),
    ]).toEqual([200, []])
  })

  test('are not repeated by pages of failures, and a code is not either', async () => {
    const page = await openPage(service, anna, '<script>alert(1)</script>', fromAddress('192.0.2.1'))
    expect([page.status, page.text.includes('alert')]).toEqual([404, false])
  })
})

describe('guesses', () => {
  const wrong = (n: number): string => `BBBB-${'BCDFGHJKLMNPQRSTVWXZ'[n]}ZZZ`

  test('[cli-login.page-errors] wrong codes are limited per person, wherever they are; whoever is blocked learns nothing of right ones', async () => {
    const { user_code } = await terminal.login()
    const person = { id: ids(30) }
    for (let n = 0; n < 10; n++)
      expect((await openPage(service, person, wrong(n), fromAddress(`198.51.100.${n}`))).status).toBe(404)
    const blocked = await openPage(service, person, user_code, fromAddress('198.51.100.200'))
    const unknown = await openPage(service, anna, wrong(19), fromAddress('198.51.100.200'))
    const withoutNonce = ({ text }: { text: string }): string => text.replace(/nonce="[^"]*"/, '')
    expect([blocked.status, withoutNonce(blocked)]).toEqual([404, withoutNonce(unknown)])
    const form = { code: user_code, form_token: 'x', decision: 'deny' }
    expect((await sendForm(service, person, form, fromAddress('198.51.100.201'))).status).toBe(404)
    expect((await openPage(service, anna, user_code, fromAddress('198.51.100.200'))).status).toBe(200)
  })

  test('wrong codes of many people at one address block none of the others there', async () => {
    const { user_code } = await terminal.login()
    const guesser = fromAddress('203.0.113.77')
    for (let n = 0; n < 60; n++)
      expect((await openPage(service, { id: ids(100 + n) }, wrong(n % 20), guesser)).status).toBe(404)
    expect((await openPage(service, { id: ids(199) }, user_code, guesser)).status).toBe(200)
  })

  test('[cli-login.page-errors] every code is unknown until 15 minutes after the first wrong one, and the right one is known then', async () => {
    let now = Date.now()
    // Redis uses its own clock. Without Redis, the service uses the clock of the test.
    const other = await startTestApp({
      world: { clock: { now: () => new Date(now) } },
      env: { SVC_REDIS_URL: 'redis://127.0.0.1:1' },
    })
    try {
      const { user_code } = await (await openTerminal(other)).login()
      const statusAfter = async (minutes: number, code: string): Promise<number> => {
        now += minutes * 60_000
        return (await openPage(other, anna, code)).status
      }
      expect(await statusAfter(0, wrong(0))).toBe(404)
      for (let n = 1; n < 9; n++) expect(await statusAfter(1, wrong(n))).toBe(404)
      expect(await statusAfter(0, user_code)).toBe(200)
      expect(await statusAfter(1, wrong(9))).toBe(404)
      expect(await statusAfter(0, user_code)).toBe(404)
      expect(await statusAfter(5.9, user_code)).toBe(404)
      expect(await statusAfter(0.1, user_code)).toBe(200)
    } finally {
      await other.close()
    }
  })

  test('a right code does not clear the wrong ones', async () => {
    const { user_code } = await terminal.login()
    const [guesser, person] = [fromAddress('203.0.113.90'), { id: ids(60) }]
    for (let n = 0; n < 9; n++) {
      await openPage(service, person, wrong(n), guesser)
      expect((await openPage(service, person, user_code, guesser)).status).toBe(200)
    }
    await openPage(service, person, wrong(9), guesser)
    expect((await openPage(service, person, user_code, guesser)).status).toBe(404)
  })

  test('what other sites make a browser load, and what cannot be a code, counts as no guess', async () => {
    const { user_code } = await terminal.login()
    const person = { id: ids(70) }
    for (let n = 0; n < 15; n++) {
      const picture = { 'sec-fetch-dest': 'image', 'sec-fetch-site': 'cross-site' }
      expect((await openPage(service, person, wrong(n), picture)).status).toBe(403)
      expect((await openPage(service, person, `no code ${n}`)).status).toBe(404)
    }
    expect((await openPage(service, person, user_code)).status).toBe(200)
  })

  test('[cli-login.poll-limit] a login is polled at most 30 times a minute, a client at most 120 times', async () => {
    const [{ session_id }, other] = [await terminal.login(), await terminal.login()]
    // Limits are exact only while Redis is available.
    await expect.poll(() => service.world.redis.isUp(), { timeout: 60_000 }).toBe(true)
    const poller = fromAddress('203.0.113.60')
    const polls = await Promise.all(Array.from({ length: 40 }, () => terminal.poll(session_id, poller)))
    const limited = polls.filter(({ status }) => status === 429)
    expect(limited).toHaveLength(10)
    for (const { headers, body } of limited) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(body['error']).toBe('too many requests; retry after the time in Retry-After')
    }
    // Polls that the limit of a login rejects do not count against other logins of the same client.
    const others = await Promise.all(
      Array.from({ length: 95 }, (_, n) => terminal.poll(`guess ${n}`, poller)),
    )
    expect(others.filter(({ status }) => status === 429)).toHaveLength(5)
    expect((await terminal.poll(other.session_id, poller)).status).toBe(429)
    expect((await terminal.poll(other.session_id, fromAddress('203.0.113.61'))).status).toBe(200)
  })
})

const ids = (n: number): string => `0199a000-0000-7000-8000-0000000${String(10_000 + n)}`

test('neither session, form proof nor token is in a log line', async () => {
  const { session_id, user_code } = await terminal.login()
  const form_token = formTokenOf(await openPage(service, anna, user_code))
  await sendForm(service, anna, { code: user_code, form_token, decision: 'approve', compared: 'yes' })
  const { body } = await terminal.poll(session_id)
  const log = JSON.stringify(service.logLines)
  for (const secret of [
    session_id,
    form_token,
    String(body['sealed_token']),
    terminal.open(body['sealed_token']),
  ])
    expect(log).not.toContain(secret)
})
