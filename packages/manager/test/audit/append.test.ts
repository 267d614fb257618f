// Tests appending to the audit trail: the content and the chain of a row, and that the row is committed atomically
// with the change.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type Row, chainRows } from '../kit/audit-rows.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { useProject } from '../kit/project.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'

const systemChain = '00000000-0000-0000-0000-000000000000'

const { service, admin, project } = useProject({ slug: 'audited' })

const rowsOf = (chainId: string): Promise<Row[]> => chainRows(service, chainId)

/** Runs a mutation and returns the rows that it added to any chain. */
async function rowsLeftBy(person: Person, text: string, variables: Record<string, unknown> = {}) {
  const count = async (): Promise<number> =>
    Number((await service.sql.query<{ n: string }>('select count(*) as n from audit_logs')).rows[0]?.n)
  const before = await count()
  const answer = await service.query(person, text, variables)
  const added = (await count()) - before
  const { rows } = await service.sql.query<Row>(
    'select * from audit_logs order by created_at desc, seq desc limit $1',
    [added],
  )
  return { answer, rows: rows.toReversed() }
}

describe('the audit row', () => {
  test('[audit-append.every-change] before and after come from the rows', async () => {
    const own = await seedProject(service.sql, 'diffs')
    const { rows } = await rowsLeftBy(
      admin,
      'mutation($t: ID!) { updateTenant(id: $t, input: {name: "Other", deploymentMode: "dedicated"}) { id } }',
      { t: own.tenantId },
    )
    expect(rows[0]?.changes).toEqual({
      name: { before: 'diffs-tenant', after: 'Other' },
      deploymentMode: { before: 'shared', after: 'dedicated' },
    })
  })

  test('[audit-append.fields] [audit-append.query] auditLogs lists the rows of the project, newest first, with every field', async () => {
    const own = await seedProject(service.sql, 'listed')
    for (const name of ['one', 'two'])
      await service.query(
        admin,
        `mutation { updateProject(id: "${own.id}", input: {name: "${name}"}) { id } }`,
      )
    const text = `query($p: ID!, $f: [Filter!]) { auditLogs(projectID: $p, filters: $f, order: [{field: "seq", direction: DESC}], pagination: {limit: 10, offset: 0}) {
      id entityType entityID action description metadata changes ipAddress userAgent createdAt user { externalUsername } } }`
    const { data, error } = await service.query(admin, text, { p: own.id })
    expect(error).toBeNull()
    expect(data.auditLogs).toHaveLength(2)
    expect(data.auditLogs[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      entityType: 'project',
      entityID: own.id,
      action: 'update',
      description: 'project listed updated',
      metadata: '{}',
      changes: '{"name":{"after":"two","before":"one"}}',
      ipAddress: '127.0.0.1',
      userAgent: expect.any(String),
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      user: { externalUsername: 'admin@example.com' },
    })
    const filtered = await service.query(admin, text, {
      p: own.id,
      f: [{ field: 'action', value: 'create' }],
    })
    expect(filtered.data.auditLogs).toEqual([])
  })

  test('[audit-append.request-origin] address and user agent are those of the request', async () => {
    const own = await seedProject(service.sql, 'origin')
    const headers = {
      ...headersOf(admin),
      'x-forwarded-for': '198.51.100.23',
      'user-agent': 'Agent/7 (tests)',
    }
    await postQuery(
      service.url,
      headers,
      `mutation { updateProject(id: "${own.id}", input: {name: "o"}) { id } }`,
    )
    const [row] = await rowsOf(own.id)
    expect([row?.ip_address, row?.user_agent]).toEqual(['198.51.100.23', headers['user-agent']])
  })

  test('[audit-append.same-transaction] a refused change leaves no row, and a row that cannot be written undoes its change', async () => {
    const own = await seedProject(service.sql, 'atomic')
    const stranger = await seedUser(service.sql, 'stranger')
    for (const [person, input] of [
      [stranger, '{name: "x"}'],
      [admin, '{slug: "audited"}'],
      [admin, '{slug: "NOT A SLUG"}'],
    ] as const) {
      const { answer, rows } = await rowsLeftBy(
        person,
        `mutation { updateProject(id: "${own.id}", input: ${input}) { id } }`,
      )
      expect(answer.error).not.toBeNull()
      expect(rows).toEqual([])
    }
    await service.sql.query(
      "alter table audit_logs add constraint refuse_atomic check (entity_id <> '" + own.id + "') not valid",
    )
    const failed = await service.query(
      admin,
      `mutation { updateProject(id: "${own.id}", input: {name: "never"}) { id } }`,
    )
    await service.sql.query('alter table audit_logs drop constraint refuse_atomic')
    expect(failed.status).toBe(500)
    expect(failed.error).toMatch(/^internal error; the request id is /)
    const { rows } = await service.sql.query('select name from projects where id = $1', [own.id])
    expect(rows).toEqual([{ name: 'Project atomic' }])
  })

  test('[audit-append.project-chain] [audit-append.system-chain] rows stay in the chain of their project or of the system', async () => {
    const [one, two] = [
      await seedProject(service.sql, 'chain-one'),
      await seedProject(service.sql, 'chain-two'),
    ]
    for (const target of [one, two, one])
      await service.query(
        admin,
        `mutation { updateProject(id: "${target.id}", input: {name: "${Math.random()}"}) { id } }`,
      )
    expect((await rowsOf(one.id)).map((row) => row.seq)).toEqual(['1', '2'])
    expect((await rowsOf(two.id)).map((row) => row.seq)).toEqual(['1'])
    const before = (await rowsOf(systemChain)).length
    const person = await seedUser(service.sql, 'promoted')
    await service.query(
      admin,
      `mutation { updateUserSystemRole(id: "${person.id}", role: "administrator") { id } }`,
    )
    expect((await rowsOf(systemChain)).length).toBe(before + 1)
  })

  test('[audit-append.hash] [audit-append.prev-hash] each hash is recomputable from the stored row and links to the one before', async () => {
    for (let i = 0; i < 12; i++)
      await service.query(
        admin,
        `mutation { createTenant(projectId: "${project.id}", input: {name: "é <${i}> 𝒳", slug: "h-${i}"}) { id } }`,
      )
    const rows = await rowsOf(project.id)
    let previous: Buffer = Buffer.alloc(32)
    for (const row of rows) {
      expect(row.prev_hash.equals(previous)).toBe(true)
      // Build the canonical JSON by hand, as RFC 8785 requires: keys in code unit order, no spaces.
      const changes = `{${Object.keys(row.changes)
        .toSorted()
        .map(
          (key) =>
            `${JSON.stringify(key)}:{"after":${JSON.stringify(row.changes[key]?.after)},"before":${JSON.stringify(row.changes[key]?.before)}}`,
        )
        .join(',')}}`
      const text =
        `{"action":"${row.action}","chainId":"${row.chain_id}","changes":${changes},"createdAt":"${row.created_at.toISOString()}",` +
        `"description":${JSON.stringify(row.description)},"entityId":"${row.entity_id}","entityType":"${row.entity_type}","form":2,"id":"${row.id}",` +
        `"ipAddress":"${row.ip_address}","metadata":{},"prevHash":"${previous.toString('hex')}",` +
        `"principal":{"id":"${row.user_id}","type":"user"},"seq":${row.seq},` +
        `"userAgent":${JSON.stringify(row.user_agent)},"userId":"${row.user_id}"}`
      expect(row.hash.toString('hex')).toBe(createHash('sha256').update(text).digest('hex'))
      previous = row.hash
    }
    expect(rows.length).toBeGreaterThan(10)
  })

  test('[audit-append.immutable] the database refuses UPDATE, DELETE and TRUNCATE, to its superuser too', async () => {
    for (const statement of [
      "update audit_logs set description = 'x'",
      'delete from audit_logs',
      'truncate audit_logs',
      'delete from audit_checkpoints',
      "update audit_checkpoints set key_id = 'x'",
    ])
      await expect(service.sql.query(statement)).rejects.toThrow(/append-only/)
  })
})
