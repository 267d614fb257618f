// These tests cover evidence as pages and as CSV.
import { beforeAll, describe, expect, test } from 'vitest'
import { parseCsv } from '../../../test/kit/csv.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { aroundNow, evidenceRows, runEvidence } from '../../../test/kit/evidence.ts'
import { formulaPayloads } from '../../../test/kit/formula-payloads.ts'
import { useProject } from '../../../test/kit/project.ts'
import { evidenceQueries } from './queries.pure.ts'

const { service, admin, project, person, member } = useProject()
const list = '/api/audit/evidence'
const browserAccepts = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const ask = async (path: string, who: Person = admin, accept = browserAccepts) => {
  const response = await fetch(service.url + path, { headers: { ...headersOf(who), accept } })
  const { status, headers } = response
  return { status, headers, type: headers.get('content-type'), text: await response.text() }
}
const html = 'text/html; charset=utf-8'
const countRuns = async (): Promise<number> =>
  (await service.sql.query("select count(*)::int as n from audit_logs where entity_type = 'evidence'"))
    .rows[0].n
const addTenant = async (name: string, slug: string): Promise<void> => {
  const { error } = await service.query(
    admin,
    'mutation($id: ID!, $input: CreateTenantInput!) { createTenant(projectId: $id, input: $input) { id } }',
    { id: project.id, input: { name, slug } },
  )
  expect(error).toBeNull()
}
const hostile = '<script>alert(1)</script>'
beforeAll(() => addTenant('first', 'first'))

describe('the page', () => {
  test('[evidence.list] lists every query with what it is, and a link that opens it', async () => {
    const before = await countRuns()
    const { status, type, text, headers } = await ask(list)
    expect([status, type, headers.get('vary'), headers.get('cache-control')]).toEqual([
      200,
      html,
      'Accept',
      'no-store',
    ])
    for (const { name, title } of evidenceQueries)
      expect(text).toContain(`<a href="evidence/${name}">${title}</a>`)
    expect(await countRuns()).toBe(before)
    expect((await ask(list, admin, 'application/json')).type).toBe('application/json; charset=utf-8')
  })

  test('[evidence.result] of every query shows its rows, is recorded, and has no script', async () => {
    for (const { name, title } of evidenceQueries) {
      const before = await countRuns()
      const { status, type, text, headers } = await ask(`${list}/${name}`)
      expect([name, status, type, headers.get('x-audit-chain')]).toEqual([name, 200, html, 'ok'])
      expect(text).toContain(`<h1>${title}</h1>`)
      expect(text).toContain('<dd>verified, unbroken</dd>')
      expect(text).not.toMatch(/<script|javascript:|style="|\son\w+=/i)
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'nonce-/)
      expect(await countRuns()).toBe(before + 1)
    }
  })

  test('[evidence.window] takes days, shows the window it used, and links to the same rows as CSV and JSON', async () => {
    const { text } = await ask(`${list}/lockouts?from=2026-01-01&to=2026-04-01`)
    const window = 'from=2026-01-01T00:00:00.000Z&amp;to=2026-04-01T00:00:00.000Z'
    for (const format of ['csv', 'json']) expect(text).toContain(`href="?${window}&amp;format=${format}"`)
    expect(text).toContain('name="from" value="2026-01-01"')
    expect(text).toContain('name="to" value="2026-04-01"')
    expect(text).toContain('This window contains no rows.')
    // Empty fields are treated as absent. The fields accept times as well as days.
    const today = new Date().toISOString().slice(0, 10)
    expect((await ask(`${list}/lockouts?from=&to=`)).text).toContain(`until <time datetime="${today}`)
    expect((await ask(`${list}/lockouts?from=2026-01-01T12:30:00Z&to=2026-01-02T01:00:00Z`)).text).toContain(
      'name="to" value="2026-01-03"',
    )
    // API clients cannot send days instead of times.
    expect((await runEvidence(service, admin, 'lockouts', { from: '2026-01-01' })).status).toBe(400)
  })

  test('shows names as they are, with what they are of, and changes as their two sides', async () => {
    const granted = await person('granted')
    await service.sql.query('update users set external_name = $2, external_email = $3 where id = $1', [
      granted.id,
      hostile,
      'granted@example.com',
    ])
    const { data } = await service.query(
      admin,
      `mutation($p: ID!, $u: ID!) { made: addUserToProject(projectID: $p, userID: $u, role: "developer") { id } }`,
      { p: project.id, u: granted.id },
    )
    await service.query(
      admin,
      'mutation($id: ID!) { updateUserProjectRole(id: $id, role: "owner") { id } }',
      { id: data.made.id },
    )
    const shown =
      '&lt;script&gt;alert(1)&lt;/script&gt;</bdi><small><bdi>user, granted@example.com</bdi></small>'
    expect((await ask(`${list}/access-grants`)).text).toContain(`<bdi>${shown}`)
    const { text } = await ask(`${list}/role-changes`)
    expect(text).toContain('<li>role: <bdi>developer → owner</bdi></li>')
    // Ids and hashes are omitted, because only programs need them.
    expect(text).not.toMatch(/>(?:Hash|Seq|Chain id|User agent|Subject id)<\/th>/)
  })

  test('has the first 500 rows, and says that there are more', async () => {
    await service.sql.query(
      `insert into auth_failures (minute, event, kind, client, count)
       select date_trunc('minute', now()) - n * interval '1 minute', 'failure', 'pat', '192.0.2.1', 1
       from generate_series(1, 700) n`,
    )
    const { text } = await ask(`${list}/failed-authentications`)
    expect(text.match(/<tr>/g)).toHaveLength(501)
    expect(text).toContain('The first 500 rows are shown; more rows exist.')
    // The connection is released.
    for (let again = 0; again < 5; again++)
      expect((await ask(`${list}/failed-authentications`)).status).toBe(200)
  })

  test('a failure is a page to who asks for one, and JSON to everybody else', async () => {
    for (const [path, status, reason] of [
      [`${list}/nothing`, 404, 'evidence query not found'],
      [`${list}/lockouts?from=yesterday`, 400, 'from must be an RFC 3339 timestamp'],
      [`${list}/lockouts?from=2026-02-01&to=2026-01-01`, 400, 'from must be before to'],
    ] as const) {
      const page = await ask(path)
      expect([path, page.status, page.type]).toEqual([path, status, html])
      expect(page.text).toContain(reason)
      expect((await ask(path, admin, '*/*')).type).toBe('application/json; charset=utf-8')
    }
    const owner = await member('owner', 'owner')
    for (const path of [list, `${list}/lockouts`]) {
      const refused = await ask(path, owner)
      expect([path, refused.status, refused.type]).toEqual([path, 403, html])
      expect(refused.text).toContain('You do not have access to this')
      expect((await ask(path, owner, 'application/json')).type).toBe('application/json; charset=utf-8')
    }
  })

  test('is no part of another page', async () => {
    for (const path of [list, `${list}/lockouts`]) {
      const before = await countRuns()
      const response = await fetch(service.url + path, {
        headers: { ...headersOf(admin), accept: 'text/html', 'sec-fetch-dest': 'iframe' },
      })
      expect([response.status, await countRuns()]).toEqual([403, before])
    }
  })
})

describe('CSV', () => {
  const csv = (name: string, query = '') => ask(`${list}/${name}?format=csv${query}`)

  test('[evidence.result] has the columns and rows of the query, and is a file', async () => {
    const { from, to } = aroundNow()
    const { status, type, headers, text } = await csv('privileged-access', `&from=${from}&to=${to}`)
    expect([status, type, headers.get('x-audit-chain')]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
      'ok',
    ])
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="evidence-privileged-access-${from.slice(0, 10)}-${to.slice(0, 10)}.csv"`,
    )
    const [header, ...records] = parseCsv(text)
    const { columns } = (await runEvidence(service, admin, 'privileged-access')).body
    expect(header).toEqual(columns)
    const rows = await evidenceRows(service, admin, 'privileged-access')
    const ids = (all: unknown[]) => all.slice(-records.length)
    const at = columns.indexOf('entity_id')
    expect(ids(rows.map(({ entity_id }) => entity_id))).toEqual(records.map((record) => record[at]))
  })

  test('no text of anybody is a formula, and objects are JSON', async () => {
    for (const [index, payload] of formulaPayloads.entries())
      await addTenant(payload.replaceAll(/[\r\n\t]/g, ' ').trim(), `formula-${index}`)
    for (const { name } of evidenceQueries) {
      const records = parseCsv((await csv(name)).text)
      expect([name, records.flat().filter((cell) => /^[=+\-@＝＋－＠\t\r\n]/u.test(cell))]).toEqual([
        name,
        [],
      ])
      expect([name, new Set(records.map(({ length }) => length)).size]).toEqual([name, 1])
    }
    await csv('access-grants')
    const [header = [], ...records] = parseCsv((await csv('audit-access')).text)
    const changes = records.map((record) => record[header.indexOf('changes')] ?? '')
    expect(changes.length).toBeGreaterThan(0)
    for (const text of changes) expect(typeof JSON.parse(text)).toBe('object')
  })

  test('other formats are refused', async () => {
    expect((await ask(`${list}/lockouts?format=xml`, admin, '*/*')).status).toBe(400)
  })
})
