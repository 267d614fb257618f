// These tests cover the audit export, requested by administrators through the proxy.
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type ExportedEntry, type JsonExport, askExport, exportJson } from '../../../test/kit/audit-export.ts'
import { chainRows } from '../../../test/kit/audit-rows.ts'
import { parseCsv } from '../../../test/kit/csv.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { formatCanonicalJson, systemChain } from '../../platform/audit/entry.ts'
import { createVerifyingKey } from '../../platform/secrets/keys.ts'

let service: TestApp
let admin: Person
let projectId: string
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  projectId = await createProject('exported')
  await createProject('neighbour')
  for (let i = 1; i <= 12; i++) await createTenant(`tenant-${i}`)
})
afterAll(() => service.close())

async function createProject(slug: string): Promise<string> {
  const text = 'mutation($slug: String!) { p: createProject(input: {name: $slug, slug: $slug}) { id } }'
  const { data } = await service.query(admin, text, { slug })
  return (data as { p: { id: string } }).p.id
}
async function createTenant(slug: string): Promise<void> {
  const text =
    'mutation($id: ID!, $slug: String!) { createTenant(projectId: $id, input: {name: $slug, slug: $slug}) { id } }'
  expect((await service.query(admin, text, { id: projectId, slug })).errors).toEqual([])
}
const storedRows = async (): Promise<number> =>
  Number((await service.sql.query<{ n: string }>('select count(*) n from audit_logs')).rows[0]?.n)
const positions = (entries: readonly ExportedEntry[]) => entries.map((one) => `${one.chain_id} ${one.seq}`)

describe('who may export', () => {
  test('[audit-export.administrator] the gate, a user or PAT, and the system role administrator are needed', async () => {
    const anna = await seedUser(service.sql, 'anna')
    expect((await fetch(`${service.url}/api/audit/export`)).status).toBe(401)
    const noUser = { headers: { 'x-proxy-auth': proxySecret } }
    expect((await fetch(`${service.url}/api/audit/export`, noUser)).status).toBe(401)
    expect((await askExport(service, anna)).status).toBe(403)
    const { token } = await createToken(service, admin)
    const headers = { 'x-proxy-auth': proxySecret, authorization: `Bearer ${token}` }
    const byToken = await fetch(`${service.url}/api/audit/export?limit=1`, { headers })
    expect([byToken.status, ((await byToken.json()) as JsonExport).count]).toEqual([200, 1])
  })

  test('[audit-export.audited] each export appends a row to the chain of the system before it begins', async () => {
    await askExport(service, admin, { format: 'csv', project_id: projectId, action: 'create', limit: '3' })
    const row = (await chainRows(service, systemChain)).at(-1)
    expect(row).toMatchObject({
      entity_type: 'auditTrail',
      entity_id: projectId,
      action: 'export',
      user_id: admin.id,
      metadata: {
        format: 'csv',
        filters: { project_id: projectId, action: 'create' },
        limit: 3,
        continued: false,
      },
    })
  })

  test('what is refused exports nothing and appends nothing', async () => {
    const before = await storedRows()
    const refused = {
      from: '2026-01-01',
      to: 'yesterday',
      project_id: 'nonsense',
      user_id: '1',
      format: 'xml',
      limit: '0',
      cursor: 'bm9uc2Vuc2U',
      entity_type: 'x'.repeat(201),
    }
    for (const [name, value] of Object.entries(refused)) {
      const response = await askExport(service, admin, { [name]: value })
      const { error } = (await response.json()) as JsonExport
      expect([name, response.status, error]).toEqual([name, 400, expect.stringContaining(name)])
    }
    for (const limit of ['10001', '-1', '1.5', '1e3', ''])
      expect([limit, (await askExport(service, admin, { limit })).status]).toEqual([limit, 400])
    const inverted = { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }
    expect((await askExport(service, admin, inverted)).status).toBe(400)
    expect(await storedRows()).toBe(before)
  })

  test('a HEAD is no export', async () => {
    const head = await fetch(`${service.url}/api/audit/export`, { method: 'HEAD', headers: headersOf(admin) })
    expect(head.status).toBe(404)
  })
})

describe('what is exported', () => {
  test('[audit-export.formats] JSON has entries, count, next_cursor and chain; NDJSON and CSV have the same rows', async () => {
    const filter = { project_id: projectId }
    const json = await exportJson(service, admin, filter)
    expect(Object.keys(json)).toEqual(['entries', 'count', 'next_cursor', 'chain'])
    const stored = await chainRows(service, projectId)
    expect(json.entries).toEqual(
      stored.map(({ seq, created_at, prev_hash, hash, ...row }) => ({
        ...row,
        seq: Number(seq),
        created_at: created_at.toISOString(),
        prev_hash: prev_hash.toString('hex'),
        hash: hash.toString('hex'),
      })),
    )
    expect(json).toMatchObject({ count: stored.length, next_cursor: null })
    const ndjson = await askExport(service, admin, { ...filter, format: 'ndjson' })
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const lines = (await ndjson.text()).trimEnd().split('\n')
    expect(lines.slice(0, -1).map((line) => JSON.parse(line) as unknown)).toEqual(json.entries)
    const csv = await askExport(service, admin, { ...filter, format: 'csv' })
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(csv.headers.get('content-disposition')).toContain('audit-export.csv')
    const [header = [], ...records] = parseCsv(await csv.text())
    const asObjects = records.map((cells) => Object.fromEntries(cells.map((cell, i) => [header[i], cell])))
    expect(asObjects.map((one) => [one['seq'], one['hash'], one['changes']])).toEqual(
      stored.map((row) => [row.seq, row.hash.toString('hex'), expect.any(String)]),
    )
    expect(asObjects.map((one) => JSON.parse(one['changes'] ?? '') as unknown)).toEqual(
      stored.map((row) => row.changes),
    )
  })

  test('the last line of NDJSON is signed over all bytes before it', async () => {
    const text = await (await askExport(service, admin, { format: 'ndjson' })).text()
    const at = text.lastIndexOf('\n', text.length - 2) + 1
    const { export: last } = JSON.parse(text.slice(at)) as {
      export: Record<string, unknown> & {
        digest: string
        publicKey: string
        signature: string
        count: number
      }
    }
    const { signature, ...content } = last
    expect(last.digest).toBe(createHash('sha256').update(text.slice(0, at)).digest('hex'))
    expect(last.count).toBe(text.slice(0, at).split('\n').length - 1)
    const key = createVerifyingKey(Buffer.from(last.publicKey, 'base64'))
    const message = createHash('sha256').update(formatCanonicalJson(content)).digest()
    expect(key.verify(message, Buffer.from(signature, 'base64'))).toBe(true)
  })

  test('[audit-export.filters] each filter leaves exactly the rows that match', async () => {
    const all = (await exportJson(service, admin)).entries
    const some = all.find(({ chain_id, seq }) => chain_id === projectId && seq === 5)
    const { entity_id, created_at } = some as ExportedEntry
    const cases: [Record<string, string>, (one: ExportedEntry) => boolean][] = [
      [{ project_id: projectId.toUpperCase() }, (one) => one.chain_id === projectId],
      [{ project_id: systemChain }, (one) => one.chain_id === systemChain],
      [{ project_id: randomUUID() }, () => false],
      [{ entity_type: 'tenant' }, (one) => one.entity_type === 'tenant'],
      [{ entity_id }, (one) => one.entity_id === entity_id],
      [{ action: 'grant' }, (one) => one.action === 'grant'],
      [{ user_id: randomUUID() }, () => false],
      [{ from: created_at }, (one) => one.created_at >= created_at],
      [{ to: created_at }, (one) => one.created_at < created_at],
      [
        { entity_type: 'tenant', from: created_at, user_id: admin.id },
        (one) => one.entity_type === 'tenant' && one.created_at >= created_at && one.user_id === admin.id,
      ],
    ]
    // The exports themselves append rows, which the comparison ignores.
    const known = new Set(positions(all))
    for (const [query, matches] of cases) {
      const { entries } = await exportJson(service, admin, query)
      const expected = positions(all.filter(matches))
      expect([query, positions(entries).filter((one) => known.has(one))]).toEqual([query, expected])
    }
  })

  test('[audit-export.paging] pages of any limit follow each other without gap or repeat, and end', async () => {
    for (const limit of ['1', '7', '10000']) {
      const whole = positions((await exportJson(service, admin)).entries)
      const paged: string[] = []
      let cursor: string | null = null
      do {
        const query: Record<string, string> = cursor === null ? { limit } : { limit, cursor }
        const response = await askExport(service, admin, query)
        const page = (await response.json()) as JsonExport
        expect(page.count).toBeLessThanOrEqual(Number(limit))
        expect(response.headers.get('x-next-cursor')).toBe(page.next_cursor)
        paged.push(...positions(page.entries))
        cursor = page.next_cursor
      } while (cursor !== null && paged.length <= 2 * whole.length)
      // The pages include the audit row about the export of the first page, but not those about the later pages.
      const systemRows = whole.filter((one) => one.startsWith(systemChain)).length
      const added = `${systemChain} ${systemRows + 1}`
      expect(paged).toEqual([...whole.slice(0, systemRows), added, ...whole.slice(systemRows)])
    }
  })

  test('a caller who has lost the role meanwhile exports nothing', async () => {
    const former = await seedUser(service.sql, 'former', 'administrator')
    const held = await service.sql.connect()
    await held.query('begin')
    await held.query("update users set role = 'user' where id = $1", [former.id])
    const asked = askExport(service, former)
    await expect
      .poll(
        async () =>
          (
            await service.sql.query(
              "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
            )
          ).rowCount,
      )
      .toBeGreaterThan(0)
    await held.query('commit')
    held.release()
    expect((await asked).status).toBe(403)
  })
})
