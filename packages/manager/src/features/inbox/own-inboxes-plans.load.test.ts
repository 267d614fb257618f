// These tests compare the cost of the statements over all inboxes of a user instead of measuring time. The plan and the
// buffer pages must not depend on the number of rows of other people.
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addPastMonths } from '../../../test/kit/inbox.ts'
import { type TestDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { lookupSettings } from '../../platform/postgres/pools.ts'
import type { PreparedStatement } from '../../platform/postgres/prepared.ts'
import { startOfInbox } from './inbox-cursor.pure.ts'
import type { InboxId } from './inbox.store.ts'
import { anyUnreadProbe, createMergedValues, listStatements, mergedPages } from './own-inboxes.store.ts'

const inboxCount = 200
const rowsPerInbox = 25
/** Number of rows of other people. */
const sizes = [10_000, loadSize(100_000, 1_000_000)]

let database: TestDatabase
let sql: Pool
let client: Client
let reader: string
let projectId: string
let inboxes: InboxId[]
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 1 })
  client = new Client({ connectionString: database.url, options: lookupSettings })
  await client.connect()
  await addPastMonths(sql)
  const project = await seedProject(sql, 'main')
  const person = await seedUser(sql, 'reader')
  await seedMember(sql, person, 'member', { projectId: project.id, tenantId: project.tenantId })
  await sql.query(
    `with made as (
       insert into applications (id, project_id, name, slug)
       select gen_random_uuid(), $1, 'many', 'many-' || n from generate_series(1, $2::int) n returning id
     )
     insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $1, $3, id, true from made`,
    [project.id, inboxCount - 1, project.tenantId],
  )
  const { rows } = await sql.query<{ id: string }>('select id from applications order by id')
  ;[reader, projectId] = [person.id, project.id]
  inboxes = rows.map(({ id }) => ({ tenantId: project.tenantId, applicationId: id, userId: person.id }))
})
afterAll(async () => {
  await client.end()
  await sql.end()
  await database.drop()
})

/**
 * Inserts the rows in a number range, spread over the inboxes and 80 days. The rows belong to `owner`, or to many other
 * people. A third of all rows are unread.
 */
async function fill(from: number, to: number, owner: string | null): Promise<void> {
  await sql.query(
    `insert into notification_recipients (tenant_id, application_id, user_id, created_at, notification_id, type, read_at)
     select $1, ($2::uuid[])[1 + n % $3::int], coalesce($4::uuid, md5((n % 9973)::text)::uuid), at,
       (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
         || '8' || lpad(to_hex(n), 15, '0'))::uuid,
       case when n % 7 > 0 then 'often' end, case when n % 3 > 0 then now() end
     from (
       select n, date_trunc('milliseconds', now() - random() * interval '80 days') as at
       from generate_series($5::int + 1, $6::int) n
     ) rows`,
    [inboxes[0]?.tenantId, inboxes.map((one) => one.applicationId), inboxCount, owner, from, to],
  )
  await sql.query('vacuum analyze notification_recipients')
}

type Node = { 'Node Type': string; 'Index Name'?: string; Plans?: Node[] } & Record<string, unknown>
type Cost = { plan: string; buffers: number; rows: number }

/** Explains a statement with the connection settings of the service. */
async function explain(statement: PreparedStatement, values: unknown[]): Promise<Cost> {
  const literals = values.map((value) =>
    Array.isArray(value)
      ? `'{${value.join(',')}}'`
      : value === null
        ? 'null'
        : `'${value as string | number}'`,
  )
  await client.query('deallocate all')
  await client.query(`prepare examined as ${statement.text}`)
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, buffers, timing off, format json) execute examined(${literals.join(', ')})`,
  )
  const root = (rows[0] as { 'QUERY PLAN': [{ Plan: Node }] })['QUERY PLAN'][0].Plan
  const kinds = new Set<string>()
  const walk = (node: Node): void => {
    kinds.add(node['Node Type'])
    for (const child of node.Plans ?? []) walk(child)
  }
  walk(root)
  const buffers = Number(root['Shared Hit Blocks']) + Number(root['Shared Read Blocks'])
  return { plan: [...kinds].toSorted().join(', '), buffers, rows: Number(root['Actual Rows']) }
}

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

async function measure(): Promise<Record<string, Cost>> {
  const page = (
    kind: keyof typeof mergedPages,
    count: number,
    { type = null, from = null }: { type?: string | null; from?: string | null } = {},
  ) =>
    explain(
      mergedPages[kind],
      createMergedValues({
        kind,
        inboxes,
        userId: reader,
        before: startOfInbox,
        from,
        type,
        kept: '2160 hours',
        count,
      }),
    )
  const pairs = [inboxes.map(({ tenantId }) => tenantId), inboxes.map((one) => one.applicationId)]
  return {
    'list everywhere': await explain(listStatements.everywhere, [reader, inboxCount + 1]),
    'list in a project': await explain(listStatements.inProject, [reader, inboxCount + 1, projectId]),
    'page of 20': await page('all', 21),
    'page of 20 of the last 30 days': await page('all', 21, { from: daysAgo(30) }),
    'unread page of 20': await page('unread', 21),
    'page of 20 of a type': await page('ofType', 21, { type: 'often' }),
    'page of a type that nothing has': await page('ofType', 21, { type: 'none' }),
    'unread page of 20 of a type': await page('unreadOfType', 21, { type: 'often' }),
    'unread probe': await explain(anyUnreadProbe, [...pairs, reader, '2160 hours']),
  }
}

test('[comms.own-list] the inboxes of a person cost the same whatever the table holds', async () => {
  const costs: Record<string, Cost>[] = []
  await fill(0, inboxCount * rowsPerInbox, reader)
  for (const [index, size] of sizes.entries()) {
    await fill(sizes[index - 1] ?? 0, size, null)
    costs.push(await measure())
  }
  const [few = {}, many = {}] = costs
  for (const [name, cost] of Object.entries(many)) {
    const before = few[name] as Cost
    process.stdout.write(`${name}: ${before.buffers} pages, then ${cost.buffers} pages (${cost.plan})\n`)
    expect([name, cost.plan]).toEqual([name, before.plan])
    expect([name, cost.plan]).toEqual([name, expect.not.stringMatching(/Seq Scan|Bitmap|Hash/)])
    expect([name, cost.rows]).toEqual([name, before.rows])
    // The index of each of the five months can be a level deeper.
    expect([name, cost.buffers <= 2 * before.buffers]).toEqual([name, true])
  }
}, 600_000)
