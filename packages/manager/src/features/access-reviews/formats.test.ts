// These tests cover the report as CSV and as a page.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { reviewCalls, reviewPath } from '../../../test/kit/access-reviews.ts'
import { parseCsv } from '../../../test/kit/csv.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { createMachine, createToken } from '@manager/harness/credentials.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { appendRows } from '../../../test/kit/trail.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })
const { ask, read } = reviewCalls(() => service)
const sql = (text: string, values: unknown[] = []) => service.sql.query(text, values)

describe('CSV', () => {
  test('[access-review.formats] has the entries with a header record, and no text of anybody is a formula', async () => {
    const names = [
      '=cmd()',
      '+1',
      '@SUM(A1)',
      '"quoted", with a comma',
      'two\nlines',
      'x'.repeat(200),
      '\u202Eright to left',
      '<script>alert(1)</script>',
    ]
    const people: Person[] = []
    for (const name of names) {
      const one = await seedUser(service.sql, `person ${people.length}`)
      await sql('update users set external_name = $2 where id = $1', [one.id, name])
      await seedMember(service.sql, one, 'readonly', { projectId: other.id })
      people.push(one)
    }
    const answer = await ask(admin, '?format=csv', { accept: 'text/html' })
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="access-review-[0-9a-f-]{36}\.csv"$/,
    )
    const [header, ...rows] = parseCsv(await answer.text())
    const { entries } = await read(admin)
    expect(header).toEqual(
      'entry_id,principal_type,principal_id,name,email,scope_type,scope_id,scope_name,project_id,role,enabled,granted_at,granted_by,last_activity_at,expires_at,flags,recommendation,last_attestation'.split(
        ',',
      ),
    )
    expect(rows.map((row) => row[0])).toEqual(entries.map((one) => one.entry_id))
    expect(rows.every((row) => row.length === 18)).toBe(true)
    const shown = people.map(({ id }) => rows.find((row) => row[2] === id)?.[3])
    expect(shown).toEqual(["'=cmd()", "'+1", "'@SUM(A1)", ...names.slice(3)])
  })
})

describe('the page', () => {
  const page = async (
    query = '',
    accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  ) => {
    const answer = await ask(admin, query, { accept })
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      text: await answer.text(),
      headers: answer.headers,
    }
  }

  test('[access-review.formats] is for who prefers HTML; others get JSON', async () => {
    const html = 'text/html; charset=utf-8'
    const json = 'application/json; charset=utf-8'
    for (const [accept, type] of [
      ['text/html', html],
      ['text/html;q=0.9, application/json;q=0.5', html],
      ['text/*', html],
      ['text/html;q=0.5, application/json', json],
      ['application/json, text/html;q=0.9', json],
      ['*/*', json],
      ['text/html;q=0', json],
      ['text/html;q=0, */*', json],
    ] as const)
      expect([accept, (await page('', accept)).type]).toEqual([accept, type])
    expect((await page('?format=json')).type).toBe(json)
    expect((await fetch(service.url + reviewPath, { headers: headersOf(admin) })).headers.get('vary')).toBe(
      'Accept',
    )
  })

  test('[access-review.formats] shows every entry, escapes every text, and has no script and no style attribute', async () => {
    const { text, headers } = await page()
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(text).not.toMatch(/<script|style="/)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'nonce-/)
    const { entries, population_hash } = await read(admin)
    expect(text).toContain(population_hash)
    expect(text.match(/<tr class="(?:revoke|review|keep)">/g)?.length).toBe(entries.length)
    expect(text).toContain(`All ${entries.length} entries.`)
  })

  test('one entry of one principal is told in the singular', async () => {
    const { id } = await seedProject(service.sql, 'lonely')
    await seedMember(service.sql, await seedUser(service.sql, 'alone'), 'readonly', { projectId: id })
    const { text } = await page(`?project_id=${id}`)
    expect(text).toContain('1 held by 1 principal<')
    expect(text).toContain('One entry. Entries')
    expect(text).toMatch(/aria-label="[\w ]+: 1 entry"/)
    expect(text).not.toMatch(/\b1 (entries|principals)\b/)
  })

  test('what should be revoked is first, and no more than a thousand entries are shown', async () => {
    await createMachine(service, admin, project.environmentId)
    await member('an owner', 'owner')
    const { id } = await createToken(service, admin)
    await sql(`update personal_access_tokens set expires_at = now() - interval '1 day' where id = $1`, [id])
    await sql(
      `with made as (insert into users (id, external_name, external_username) select gen_random_uuid(), 'many ' || n, 'many' || n
         from generate_series(1, 1100) n returning id)
       insert into user2projects (id, project_id, user_id, role) select gen_random_uuid(), $1, id, 'readonly' from made`,
      [project.id],
    )
    const { text } = await page(`?project_id=${project.id}`)
    const { entries } = await read(admin, `?project_id=${project.id}`)
    expect(text.match(/<tr class="(?:revoke|review|keep)">/g)?.length).toBe(1_000)
    expect(text).toContain(`The first 1,000 of ${entries.length.toLocaleString('en')} entries.`)
    expect(text).toContain(`href="?project_id=${project.id}&amp;format=csv"`)
    const whole = (await page()).text
    const order = [...whole.matchAll(/<tr class="(revoke|review|keep)">/g)].map((match) => match[1])
    const ranks = order.map((one) => ['revoke', 'review', 'keep'].indexOf(one as string))
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
  })

  test('a failure is a page to who asks for one, and JSON to everybody else; the gate answers JSON', async () => {
    const unknown = `?project_id=${randomUUID()}`
    const shown = await page(unknown)
    expect([shown.status, shown.type]).toEqual([404, 'text/html; charset=utf-8'])
    expect(shown.text).toContain('project not found')
    const plain = await page(unknown, 'application/json')
    expect([plain.status, JSON.parse(plain.text)]).toMatchObject([
      404,
      { error: 'project not found', code: 'not_found' },
    ])
    const gate = await fetch(service.url + reviewPath, { headers: { accept: 'text/html' } })
    expect([gate.status, gate.headers.get('content-type')]).toEqual([401, 'application/json; charset=utf-8'])
    const stranger = await ask(await person('stranger'), '', { accept: 'text/html' })
    expect([stranger.status, stranger.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
  })

  test('says how much of the audit trail is not verified yet, instead of calling it unbroken', async () => {
    const query = `?project_id=${other.id}`
    await appendRows(service, other.id, 1)
    expect((await page(query)).text).toContain('<dd>verified, unbroken</dd>')
    await appendRows(service, other.id, 10_300)
    const { text } = await page(query)
    expect(text).toMatch(/<dd>verified up to here; not verified yet: \d+ rows<\/dd>/)
    expect(text).not.toContain('unbroken')
  })
})
