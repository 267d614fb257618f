// These tests cover the attestation form: the attestations that it records and the requests that it rejects.
import { beforeAll, describe, expect, test } from 'vitest'
import { reviewPath } from '../../../test/kit/access-reviews.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { formTokenOf } from '@manager/harness/cli-login.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project, person, member } = useProject()
let second: Person
beforeAll(async () => {
  second = await seedUser(service.sql, 'second', 'administrator')
  await member('Alice', 'owner')
})

type Shown = { status: number; headers: Headers; text: string }
const shownOf = async (response: Response): Promise<Shown> => ({
  status: response.status,
  headers: response.headers,
  text: await response.text(),
})
const open = async (who: Person, query = ''): Promise<Shown> =>
  shownOf(
    await fetch(`${service.url}${reviewPath}${query}`, {
      headers: { ...headersOf(who), accept: 'text/html' },
    }),
  )
/** Submits a form as the user's browser does. Headers with an empty value are not sent. */
const send = async (
  who: Person,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Shown> => {
  const own = { ...headersOf(who), accept: 'text/html', 'sec-fetch-site': 'same-origin', ...headers }
  return shownOf(
    await fetch(service.url + reviewPath, {
      method: 'POST',
      headers: Object.entries(own).filter(([, value]) => value !== ''),
      body: new URLSearchParams(fields),
    }),
  )
}
/** Returns the field values of a completed form. */
const filled = async (who: Person, query = '') => {
  const page = await open(who, query)
  return {
    report_id: /name="report_id" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
    form_token: formTokenOf(page),
    decision: 'approve',
    comment: '',
    confirmed: 'yes',
  }
}
const attestations = async () =>
  (await service.sql.query('select * from access_attestations order by created_at')).rows

describe('the form', () => {
  test('[access-review.attest] records the decision and the comment about the whole report, and says so', async () => {
    const form = await filled(admin, `?project_id=${project.id}`)
    const comment = 'As every quarter.\r\n<script>alert(1)</script> & more'
    const { status, headers, text } = await send(admin, { ...form, decision: 'modify', comment })
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ])
    const nonce = /<style nonce="([^"]+)">/.exec(text)?.[1]
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    )
    const row = (await attestations()).at(-1)
    expect(row).toMatchObject({
      report_id: form.report_id,
      project_id: project.id,
      created_by: admin.id,
      decision: 'modify',
      comment: comment.replace('\r\n', '\n'),
      names_entries: false,
    })
    expect(text).toContain(row.id)
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; more')
    expect(text).toContain('Modify the access with the usual operations')
    expect(text).toContain(`href="review?project_id=${project.id}"`)
    expect(text).not.toMatch(/<script|javascript:|\son\w+=/i)
    const { rows } = await service.sql.query(
      "select user_id, metadata from audit_logs where entity_type = 'accessReview' and entity_id = $1",
      [row.id],
    )
    expect(rows).toMatchObject([
      { user_id: admin.id, metadata: { decision: 'modify', comment: row.comment } },
    ])
  })

  test('[access-review.attest-population] is refused as a page when access has changed since', async () => {
    const form = await filled(admin)
    const before = await attestations()
    await seedMember(service.sql, await person('Bob'), 'owner', { projectId: project.id })
    const { status, text } = await send(admin, form)
    expect([status, text]).toEqual([409, expect.stringContaining('The data has changed')])
    expect(text).toContain('access has changed since the report')
    expect(await attestations()).toEqual(before)
    expect((await send(admin, await filled(admin))).status).toBe(200)
  })

  test('is refused when it is not complete, and says what is missing', async () => {
    const form = await filled(admin)
    const before = await attestations()
    const wrong: [Record<string, string>, number, string][] = [
      [{ confirmed: '' }, 400, 'confirmed must be yes'],
      [{ decision: 'delete' }, 400, 'decision must be approve, revoke or modify'],
      [{ report_id: 'x' }, 400, 'report_id must be a UUID'],
      [{ comment: 'x'.repeat(2_001) }, 400, 'comment must have at most 2000 characters'],
      [{ comment: 'a\u0000b' }, 400, 'comment must not contain control characters'],
      [{ comment: 'x'.repeat(40_000) }, 413, 'the request body is larger than this route accepts'],
    ]
    for (const [fields, status, reason] of wrong) {
      const answer = await send(admin, { ...form, ...fields })
      expect([fields, answer.status]).toEqual([fields, status])
      expect(answer.text).toContain(reason)
    }
    const { decision: _, ...undecided } = form
    expect((await send(admin, undecided)).status).toBe(400)
    const json = await fetch(service.url + reviewPath, {
      method: 'POST',
      headers: { ...headersOf(admin), 'content-type': 'application/json' },
      body: JSON.stringify(form),
    })
    expect([json.status, json.headers.get('content-type')]).toEqual([415, 'text/html; charset=utf-8'])
    expect(await attestations()).toEqual(before)
    // Each of these characters has four bytes, so a browser sends it as twelve characters.
    expect((await send(admin, { ...form, comment: '🌱'.repeat(2_000) })).status).toBe(200)
  })
})

describe('a forged form', () => {
  test.each<[string, Record<string, string>]>([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of a neighbouring host', { 'sec-fetch-site': 'same-site' }],
    ['of another origin', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
    ['of another origin, said to be of this one', { origin: 'https://evil.example' }],
    ['of no origin, from a browser that says no more', { 'sec-fetch-site': '', origin: 'null' }],
  ])('%s is refused, also with the right proof', async (_name, headers) => {
    const form = await filled(admin)
    const before = await attestations()
    const { status, text } = await send(admin, form, headers)
    expect([status, text]).toEqual([403, expect.stringContaining('This request was rejected')])
    expect(await attestations()).toEqual(before)
  })

  test('with the proof of another person or report, or none, is refused', async () => {
    const [mine, other, seconds] = [await filled(admin), await filled(admin), await filled(second)]
    const before = await attestations()
    for (const form of [
      { ...mine, form_token: other.form_token },
      { ...mine, report_id: other.report_id },
      { ...mine, form_token: 'guessed' },
      seconds,
    ]) {
      const { status, text } = await send(admin, form)
      expect([status, text]).toEqual([403, expect.stringContaining('belongs to another user or report')])
    }
    expect((await send(admin, { ...mine, form_token: '' })).status).toBe(400)
    expect(await attestations()).toEqual(before)
    expect((await send(admin, mine)).status).toBe(200)
  })
})

test('[access-review.administrator] who is no administrator gets a page that says what is missing, and nothing of a login', async () => {
  const owner = await member('owner', 'owner')
  const form = await filled(admin)
  for (const { status, text } of [await open(owner), await send(owner, form)]) {
    expect(status).toBe(403)
    expect(text).toContain('<h1>You do not have access to this</h1>')
    expect(text).toContain('Ask an administrator for the role named below')
    expect(text).toContain('system role administrator')
    expect(text).not.toMatch(/link again|decide on the page|login|terminal/)
  }
  const anonymous = await fetch(service.url + reviewPath, { method: 'POST', body: new URLSearchParams(form) })
  expect([anonymous.status, anonymous.headers.get('content-type')]).toEqual([
    401,
    'application/json; charset=utf-8',
  ])
})
